from django.urls import URLPattern, URLResolver, include, path

from api.v1 import keys

urlpatterns: list[URLPattern | URLResolver] = [
    path("bench/", include("api.v1.bench_urls")),
    path("", include("api.v1.schedule_urls")),
    path("keys", keys.Keys.as_view(), name="keys"),
    path("keys/<uuid:key_id>", keys.Key.as_view(), name="key"),
]
