"""Entry of gunicorn and runserver."""

import os

from django.core.wsgi import get_wsgi_application

from asyncenergy.bodylimit import WsgiBodyLimit

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "asyncenergy.settings")

application = WsgiBodyLimit(get_wsgi_application())
