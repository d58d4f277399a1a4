"""Entry of gunicorn and runserver."""

import os

from django.core.wsgi import get_wsgi_application

from asyncenergy.bodylimit import WsgiBodyLimit

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "asyncenergy.settings")
os.environ.setdefault("ASYNCENERGY_KEEPS_CONNECTIONS", "1")  # gunicorn's threads live as long as their worker

application = WsgiBodyLimit(get_wsgi_application())
