"""Settings come from the environment, are safe with nothing set, and a wrong value stops the start."""

import os
import re
import runpy
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from asyncenergy.environment import generated_secret_key

ROOT = Path(__file__).resolve().parents[2]
KEY = "k3y-of-a-test" * 4
PRODUCTION = {
    "ASYNCENERGY_ENV": "production",
    "SECRET_KEY": KEY,
    "ALLOWED_HOSTS": "energy.example.org",
    "DATABASE_URL": "postgres://user:secret@db.example.org:5432/asyncenergy",
}


@pytest.fixture
def load(monkeypatch, tmp_path):
    """Read settings.py afresh, with these variables and no others of ours."""

    def load_with(**variables):
        for name in known_variables():
            monkeypatch.delenv(name, raising=False)
        defaults = {"ASYNCENERGY_VAR_DIR": str(tmp_path), "ASYNCENERGY_ENV_FILE": os.devnull}
        for name, value in (defaults | variables).items():
            monkeypatch.setenv(name, value)
        return runpy.run_path(str(ROOT / "asyncenergy" / "settings.py"))

    return load_with


def known_variables() -> set[str]:
    return set(re.findall(r"^#? ?([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))


def read_variables() -> set[str]:
    source = (ROOT / "asyncenergy" / "settings.py").read_text()
    return set(re.findall(r"(?:environ\.get\(|flag\(|count\(|choice\(|required\()\s*\"([A-Z_]+)\"", source))


def test_every_variable_has_its_line_in_the_example():
    assert known_variables() == read_variables() | {"ASYNCENERGY_TEST_CLOCK"}


def test_nothing_set_is_an_embedded_server_for_this_machine_alone(load, tmp_path):
    settings = load()
    assert settings["DEBUG"] is False
    assert settings["ALLOWED_HOSTS"] == ["localhost", "127.0.0.1", "[::1]"]
    assert settings["SECURE_SSL_REDIRECT"] is False
    assert settings["SESSION_COOKIE_SECURE"] is False
    database = settings["DATABASES"]["default"]
    assert database["NAME"] == str(tmp_path / "asyncenergy.sqlite3")
    assert database["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert database["OPTIONS"]["timeout"] == 20
    assert "journal_mode=WAL" in database["OPTIONS"]["init_command"]


def test_the_secret_key_is_made_once_and_only_the_owner_may_read_it(load, tmp_path):
    first, second = load()["SECRET_KEY"], load()["SECRET_KEY"]
    assert first == second
    assert len(first) >= 50
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir() if "secret" in path.name] == ["secret_key"]


def test_of_many_first_starts_all_get_one_key(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: generated_secret_key(tmp_path / "secret_key"), range(32)))
    assert len(keys) == 1


def test_sqlite_keeps_its_options_whatever_the_url_says(load, tmp_path):
    url = f"sqlite:///{tmp_path}/other.sqlite3?transaction_mode=DEFERRED&timeout=1"
    database = load(DATABASE_URL=url)["DATABASES"]["default"]
    assert database["NAME"] == f"{tmp_path}/other.sqlite3"
    assert (database["OPTIONS"]["transaction_mode"], database["OPTIONS"]["timeout"]) == ("IMMEDIATE", 20)


def test_production_is_pooled_postgresql_and_redis_behind_tls(load):
    settings = load(**PRODUCTION)
    database = settings["DATABASES"]["default"]
    assert database["ENGINE"] == "django.db.backends.postgresql"
    assert database["OPTIONS"]["pool"]["max_size"] == 10
    assert "redis" in settings["CACHES"]["default"]["BACKEND"]
    assert settings["SECURE_SSL_REDIRECT"]
    assert settings["SECURE_HSTS_SECONDS"] == 365 * 24 * 3600
    assert settings["SESSION_COOKIE_SECURE"]
    assert settings["CSRF_COOKIE_SECURE"]
    assert settings["SECURE_PROXY_SSL_HEADER"] is None


def test_a_proxy_is_believed_only_when_it_is_named(load):
    assert load(**PRODUCTION, PROXY_COUNT="1")["SECURE_PROXY_SSL_HEADER"] == ("HTTP_X_FORWARDED_PROTO", "https")


@pytest.mark.parametrize("missing", ["SECRET_KEY", "ALLOWED_HOSTS", "DATABASE_URL"])
def test_production_needs(load, missing):
    with pytest.raises(ImproperlyConfigured, match=f"^{missing} is not set.*set {missing}="):
        load(**{name: value for name, value in PRODUCTION.items() if name != missing})


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"ASYNCENERGY_ENV": "prod"}, "ASYNCENERGY_ENV is 'prod': set it to one of embedded, production"),
        ({"DEMO": "yes"}, "DEMO is 'yes': set it to one of 0, 1"),
        ({"PROXY_COUNT": "-1"}, "PROXY_COUNT is '-1': set it to a whole number"),
        ({"LOG_LEVEL": "verbose"}, "LOG_LEVEL is 'verbose': set it to one of DEBUG"),
        ({"SECRET_KEY": "short"}, "SECRET_KEY has 5 characters"),
        ({"DATABASE_URL": "nonsense"}, "DATABASE_URL can't be used"),
        ({"DATABASE_URL": "mysql://u:p@h/n"}, "DATABASE_URL can't be used"),
        ({"EMAIL_URL": "carrier-pigeon://loft"}, "EMAIL_URL is 'carrier-pigeon://loft'"),
        ({"ASYNCENERGY_TEST_CLOCK": "soon"}, "ASYNCENERGY_TEST_CLOCK is 'soon': write epoch,factor"),
        ({"ASYNCENERGY_VAR_DIR": "/proc/nowhere"}, "ASYNCENERGY_VAR_DIR is '/proc/nowhere/static'"),
        (PRODUCTION | {"DEMO": "1"}, "DEMO is '1': .*unset it"),
        (PRODUCTION | {"ASYNCENERGY_TEST_CLOCK": "0,60"}, "ASYNCENERGY_TEST_CLOCK is '0,60': .*unset it"),
        (PRODUCTION | {"DATABASE_URL": "sqlite:////x"}, "DATABASE_URL can't be used"),
    ],
)
def test_a_wrong_value_stops_the_start_and_names_the_way_out(load, variables, message):
    with pytest.raises(ImproperlyConfigured, match=f"^{message}"):
        load(**variables)


def test_no_refusal_shows_the_password_of_the_database(load):
    with pytest.raises(ImproperlyConfigured) as refusal:
        load(DATABASE_URL="mysql://user:topsecret@host/name")
    assert "topsecret" not in str(refusal.value)


@pytest.mark.campaign
def test_the_deployment_check_is_clean_with_production_settings():
    variables = PRODUCTION | {"PATH": os.environ["PATH"], "ASYNCENERGY_ENV_FILE": os.devnull}
    command = [sys.executable, "-W", "error", "manage.py", "check", "--deploy", "--fail-level", "INFO"]
    check = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=120)
    assert check.returncode == 0, check.stderr
    assert "no issues" in check.stdout
