from django.urls import URLPattern, URLResolver, include, path

from api.pages import docs
from api.schema import Health, OpenApi
from api.v1 import auth
from api.v1.bench_corpus import Llms, Snapshot

app_name = "api"
urlpatterns: list[URLPattern | URLResolver] = [
    path("health", Health.as_view(), name="health"),
    path("openapi.json", OpenApi.as_view(), name="openapi"),
    path("bench-data.json", Snapshot.as_view(), name="bench-data"),
    path("llms.txt", Llms.as_view(), name="llms"),
    path("api/docs", docs, name="docs"),
    path("auth/signup", auth.Signup.as_view(), name="signup"),
    path("auth/login", auth.Login.as_view(), name="login"),
    path("auth/refresh", auth.Refresh.as_view(), name="refresh"),
    path("auth/logout", auth.Logout.as_view(), name="logout"),
    path("auth/logout-everywhere", auth.LogoutEverywhere.as_view(), name="logout-everywhere"),
    path("auth/password/change", auth.PasswordChange.as_view(), name="password-change"),
    path("auth/password/reset", auth.PasswordReset.as_view(), name="password-reset"),
    path("auth/password/new", auth.PasswordNew.as_view(), name="password-new"),
    path("api/v1/", include("api.v1.urls")),
]
