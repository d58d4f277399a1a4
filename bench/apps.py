from django.apps import AppConfig
from django.urls import register_converter

from bench.converters import ConfigKeyConverter


class BenchConfig(AppConfig):
    name = "bench"
    verbose_name = "Corpus"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        register_converter(ConfigKeyConverter, "config_key")
