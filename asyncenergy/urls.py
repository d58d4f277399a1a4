from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from accounts.views import admin_login

urlpatterns: list[URLPattern | URLResolver] = [
    path("admin/login/", admin_login),
    path("admin/", admin.site.urls),
    path("accounts/", include("accounts.urls")),
    path("", include("bench.urls")),
    path("", include("learn.urls")),
    path("", include("scheduling.urls")),
    path("", include("api.urls")),
]

handler400 = "api.errors.bad_request"
handler403 = "api.errors.permission_denied"
handler404 = "api.errors.not_found"
handler500 = "api.errors.server_error"
