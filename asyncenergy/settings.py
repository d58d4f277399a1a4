"""All settings, in one file, from the environment; `.env.example` names each variable."""

import os
from datetime import timedelta
from pathlib import Path

from csp.constants import NONE, SELF
from environ import Env

from asyncenergy import clock, environment

BASE_DIR = Path(__file__).resolve().parent.parent
Env.read_env(os.environ.get("ASYNCENERGY_ENV_FILE", BASE_DIR / ".env"))

# How it runs -----------------------------------------------------------------------------------------------------
PRODUCTION = environment.choice("ASYNCENERGY_ENV", ("embedded", "production"), "embedded") == "production"
EMBEDDED = not PRODUCTION
DEMO = environment.flag("DEMO")
VAR_DIR = Path(os.environ.get("ASYNCENERGY_VAR_DIR", BASE_DIR / "var"))
PROXY_COUNT = environment.count("PROXY_COUNT", 0)
DEBUG = False

if PRODUCTION and DEMO:
    raise environment.refusal("DEMO", "1", "simulated numbers never stand in production; unset it")
if PRODUCTION and os.environ.get(clock.TEST_CLOCK):
    raise environment.refusal(clock.TEST_CLOCK, os.environ[clock.TEST_CLOCK], "production has the true time; unset it")
clock.now()  # reads the test clock, so that a wrong one stops the start

if EMBEDDED:
    environment.writable_folder(VAR_DIR / "static", "ASYNCENERGY_VAR_DIR")
    SECRET_KEY = (
        environment.secret_key(os.environ["SECRET_KEY"])
        if os.environ.get("SECRET_KEY")
        else environment.generated_secret_key(VAR_DIR / "secret_key")
    )
    ALLOWED_HOSTS = environment.names(os.environ.get("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]"))
    database_url = os.environ.get("DATABASE_URL") or f"sqlite:///{VAR_DIR / 'asyncenergy.sqlite3'}"
else:
    SECRET_KEY = environment.secret_key(environment.required("SECRET_KEY", "<50 random characters>"))
    ALLOWED_HOSTS = environment.names(environment.required("ALLOWED_HOSTS", "energy.example.org"))
    database_url = environment.required("DATABASE_URL", "postgres://user:password@host:5432/asyncenergy")

DATABASES = {
    "default": environment.database(
        database_url,
        only_postgresql=PRODUCTION,
        keeps_connections=environment.flag("ASYNCENERGY_KEEPS_CONNECTIONS"),
    )
}
REDIS_URL = os.environ.get("REDIS_URL", "redis://127.0.0.1:6379/0")
CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 100_000}}
    if EMBEDDED
    else {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "asyncenergy",
        "OPTIONS": {"socket_connect_timeout": 2, "socket_timeout": 2},
    }
}

# Django ----------------------------------------------------------------------------------------------------------
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.sitemaps",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_htmx",
    "template_partials",
    "simple_history",
    "rest_framework",
    "drf_spectacular",
    "django_filters",
    "corsheaders",
    "csp",
    "accounts",
    "bench",
    "scheduling",
    "api",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "api.addresses.nul_refused",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "simple_history.middleware.HistoryRequestMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "asyncenergy.urls"
WSGI_APPLICATION = "asyncenergy.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
USE_I18N = False
DATA_UPLOAD_MAX_MEMORY_SIZE = 16 * 2**20  # the tighter limits of asyncenergy.bodylimit come first

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = VAR_DIR / "static"
WHITENOISE_USE_FINDERS = EMBEDDED  # embedded: no collectstatic needed
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if EMBEDDED
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}

# Accounts --------------------------------------------------------------------------------------------------------
AUTH_USER_MODEL = "accounts.User"
LOGIN_URL = "accounts:login"
LOGIN_REDIRECT_URL = "accounts:account"
LOGOUT_REDIRECT_URL = "accounts:login"
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.ScryptPasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
vars().update(environment.mail(os.environ.get("EMAIL_URL") or "consolemail://"))
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = os.environ.get("DEFAULT_FROM_EMAIL", "Async Energy <no-reply@localhost>")

# Browser security ------------------------------------------------------------------------------------------------
SECURE_SSL_REDIRECT = PRODUCTION
SECURE_REDIRECT_EXEMPT = [r"^health$"]  # probes inside the machine speak plain HTTP
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if PROXY_COUNT else None
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if PRODUCTION else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = PRODUCTION
SECURE_HSTS_PRELOAD = PRODUCTION
SESSION_COOKIE_SECURE = PRODUCTION
CSRF_COOKIE_SECURE = PRODUCTION
CSRF_FAILURE_VIEW = "api.errors.csrf_failure"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}
# Public reads may be called from any page, without credentials.
CORS_ALLOW_ALL_ORIGINS = True
CORS_ALLOW_METHODS = ["GET", "HEAD", "OPTIONS"]
CORS_ALLOW_HEADERS = ["accept", "content-type", "if-none-match"]
CORS_EXPOSE_HEADERS = ["ETag"]
CORS_URLS_REGEX = (
    r"^/(health|openapi\.json|bench-data\.json|llms\.txt"
    r"|api/v1/bench/(leaderboard|routing-table|recommend|configs/.*|runs/.*|sweeps|facets|moderation-log|corpus|corpus/.*))$"
)

# API -------------------------------------------------------------------------------------------------------------
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["api.auth.BearerAuthentication", "api.auth.ApiKeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["api.auth.HasScope"],
    "DEFAULT_PARSER_CLASSES": ["api.parsers.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_THROTTLE_CLASSES": ["api.throttles.CallThrottle"],
    "DEFAULT_PAGINATION_CLASS": "api.pagination.PublicPagination",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "api.errors.exception_handler",
    "NUM_PROXIES": PROXY_COUNT,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
# Calls per hour and caller: an account where one is known, else an address.
THROTTLES = {"signup": 10, "login": 20, "mail": 10, "submissions": 60, "verify": 60, "calls": 20_000}
# Somebody on their own machine may do more; the loopback address of an embedded server says that it is them.
THROTTLE_LOOPBACK_FACTOR = 20 if EMBEDDED else 1
SIMPLE_JWT = {"ACCESS_TOKEN_LIFETIME": timedelta(minutes=30), "REFRESH_TOKEN_LIFETIME": timedelta(days=60)}
SPECTACULAR_SETTINGS = {
    "TITLE": "Async Energy",
    "DESCRIPTION": "Joules per correct answer of local AI inference, and the cheapest hours for deferrable AI work.",
    "VERSION": "1",
    "LICENSE": {"name": "MIT; published data CC BY 4.0"},
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,  # it repeats the values
    "GET_LIB_DOC_EXCLUDES": "api.schema.words_of_no_call",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "api.schema.describe_errors",
    ],
}

# Prices ----------------------------------------------------------------------------------------------------------
ENTSOE_TOKEN = os.environ.get("ENTSOE_TOKEN", "")

# Work outside requests -------------------------------------------------------------------------------------------
CELERY_BROKER_URL = REDIS_URL
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_connect_timeout": 2}
CELERY_TASK_PUBLISH_RETRY = False  # a request never waits for the broker
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True  # tasks may run twice without harm, and none may be lost with its worker
CELERY_TASK_TIME_LIMIT = 900
CELERY_TASK_SOFT_TIME_LIMIT = 840
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TIMEZONE = "UTC"

# Logs go to stderr -----------------------------------------------------------------------------------------------
LOG_LEVEL = environment.choice("LOG_LEVEL", ("DEBUG", "INFO", "WARNING", "ERROR"), "INFO")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    "loggers": {"django": {"handlers": ["stderr"], "level": LOG_LEVEL, "propagate": False}},
}
