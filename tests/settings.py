"""The product's settings on a database, a folder and a cheap password hash of the tests' own."""

import atexit
import os
import tempfile

_folder = tempfile.TemporaryDirectory(prefix="asyncenergy-tests-")
atexit.register(_folder.cleanup)
os.environ |= {"ASYNCENERGY_ENV": "embedded", "ASYNCENERGY_VAR_DIR": _folder.name, "ASYNCENERGY_ENV_FILE": os.devnull}
for name in ("DATABASE_URL", "SECRET_KEY", "ALLOWED_HOSTS", "DEMO", "EMAIL_URL", "ASYNCENERGY_TEST_CLOCK"):
    os.environ.pop(name, None)
if os.environ.get("TEST_DATABASE_URL"):
    os.environ["DATABASE_URL"] = os.environ["TEST_DATABASE_URL"]

from asyncenergy import settings as product  # noqa: E402 - it reads the environment when it is imported

globals().update({name: value for name, value in vars(product).items() if name.isupper()})

# A file, not memory: threads then meet the same locks as in the product. The name keeps parallel test runs apart.
_sqlite = "sqlite" in product.DATABASES["default"]["ENGINE"]
_name = f"{_folder.name}/test.sqlite3" if _sqlite else f"test_asyncenergy_{os.getpid()}"
DATABASES = {"default": product.DATABASES["default"] | {"TEST": {"NAME": _name}}}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
WHITENOISE_AUTOREFRESH = True  # look for a file when it is asked for, instead of listing all for each test client
