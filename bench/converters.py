"""Parts of addresses."""

from django.urls.converters import StringConverter

CONFIG_KEY = "[0-9a-f]{16}"


class ConfigKeyConverter(StringConverter):
    """The key of a configuration: 16 hex digits. Anything else is no address."""

    regex = CONFIG_KEY
