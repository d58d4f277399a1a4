"""Settings: the names of deployed controllers are read as well, our own win, and each value knows its origin."""

from pathlib import Path

import pytest
from asyncenergy_controller.settings import DEPLOYED_NAMES, Settings, SettingsError, load_settings, origins, revealed

DEPLOYED = {
    "HM_ASYNC_API_URL": ("http://old.example/", "http://old.example"),
    "HM_ASYNC_EMAIL": ("me@example.org", "me@example.org"),
    "HM_ASYNC_PASSWORD": ("old word", "old word"),
    "HM_ASYNC_API_KEY": ("ae_old", "ae_old"),
    "CONTROLLER_ID": ("old-box", "old-box"),
    "HM_ASYNC_JOB_CATALOG": ("/etc/jobs.json", Path("/etc/jobs.json")),
    "BENCH_OPTIN": ("true", True),
    "APPLY_POWER_CAP": ("1", True),
    "POWER_CAP_POLICY": ("managed", "managed"),
}


@pytest.fixture(autouse=True)
def bare(monkeypatch, tmp_path):
    """An environment that sets nothing but where the configuration lies."""
    for name in Settings.model_fields:
        monkeypatch.delenv(f"ASYNCENERGY_{name.upper()}", raising=False)
    for name in DEPLOYED_NAMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ASYNCENERGY_CONFIG_DIR", str(tmp_path))


def shown(value):
    return revealed(value) if hasattr(value, "get_secret_value") else value


def test_the_table_names_all_nine_of_the_deployed_names():
    assert set(DEPLOYED) == set(DEPLOYED_NAMES)


@pytest.mark.parametrize("variable", DEPLOYED)
def test_a_deployed_name_is_read(monkeypatch, variable):
    written, value = DEPLOYED[variable]
    monkeypatch.setenv(variable, written)
    name = DEPLOYED_NAMES[variable]
    assert shown(getattr(load_settings(), name)) == value
    assert (origins()[name].kind, origins()[name].name) == ("environment", variable)


@pytest.mark.parametrize("variable", DEPLOYED)
def test_our_own_name_wins_over_the_deployed_one(monkeypatch, variable):
    monkeypatch.setenv(variable, "nonsense that must not be read")
    name = DEPLOYED_NAMES[variable]
    written, value = DEPLOYED[variable]
    monkeypatch.setenv(f"ASYNCENERGY_{name.upper()}", written)
    assert shown(getattr(load_settings(), name)) == value
    assert origins()[name].name == f"ASYNCENERGY_{name.upper()}"


def test_a_deployed_name_wins_over_the_file_and_a_flag_over_all(monkeypatch, tmp_path):
    (tmp_path / "config.toml").write_text('controller_id = "file"\nemail = "file@example.org"\n')
    monkeypatch.setenv("CONTROLLER_ID", "old")
    assert (load_settings().controller_id, load_settings().email) == ("old", "file@example.org")
    assert load_settings(controller_id="flag").controller_id == "flag"
    assert [origins()[name].kind for name in ("controller_id", "email", "meter")] == ["environment", "file", "default"]
    assert origins()["email"].name == str(tmp_path / "config.toml")
    assert (origins(controller_id="f")["controller_id"].name, origins()["meter"].name) == ("--controller-id", None)


@pytest.mark.parametrize("variable", ["HM_ASYNC_API_KEY", "ASYNCENERGY_API_KEY"])
def test_an_empty_variable_sets_nothing(monkeypatch, variable):
    monkeypatch.setenv(variable, "")
    assert load_settings().api_key is None
    assert origins()["api_key"].kind == "default"


def test_a_wrong_value_under_a_deployed_name_names_that_variable_too(monkeypatch):
    monkeypatch.setenv("POWER_CAP_POLICY", "sometimes")
    with pytest.raises(SettingsError, match=r"'sometimes' was given.*POWER_CAP_POLICY") as refused:
        load_settings()
    assert "ASYNCENERGY_POWER_CAP_POLICY" in str(refused.value)


def test_a_wrong_secret_is_not_repeated(monkeypatch, tmp_path):
    (tmp_path / "config.toml").write_text("api_key = 77123\n")
    with pytest.raises(SettingsError) as refused:
        load_settings()
    assert "77123" not in str(refused.value)


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 121])
def test_a_machine_without_a_usable_name_is_refused(name):
    with pytest.raises(SettingsError, match="controller_id"):
        load_settings(controller_id=name)


def test_the_jobs_lie_beside_the_configuration_unless_a_path_is_given(tmp_path):
    assert load_settings().job_catalog == tmp_path / "jobs.json"
    assert load_settings(job_catalog="~/mine.json").job_catalog == Path.home() / "mine.json"


@pytest.mark.parametrize("address", ["http://localhost:port", "http://[::1", "http://", "http://host:99999"])
@pytest.mark.parametrize("name", ["api_url", "engine_url"])
def test_an_address_that_is_none_is_refused(name, address):
    with pytest.raises(SettingsError, match=f"{name}: .*ASYNCENERGY_{name.upper()}"):
        load_settings(**{name: address})


@pytest.mark.parametrize("name", ["api_key", "engine_api_key"])
@pytest.mark.parametrize("key", ["ae_xé", "ae_x\n", " ae_x"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_repeated(monkeypatch, name, key):
    monkeypatch.setenv(f"ASYNCENERGY_{name.upper()}", key)
    with pytest.raises(SettingsError, match=f"{name}: .*plain characters") as refused:
        load_settings()
    assert key.strip() not in str(refused.value)


def test_one_wrong_setting_is_one_sentence_that_names_what_sets_it(monkeypatch):
    monkeypatch.setenv("ASYNCENERGY_SAMPLE_PERIOD_S", "0.01")
    with pytest.raises(SettingsError) as refused:
        load_settings()
    (sentence,) = str(refused.value).splitlines()
    assert sentence.startswith("sample_period_s: ")
    assert sentence.endswith("It is set by ASYNCENERGY_SAMPLE_PERIOD_S or config.toml.")
    assert "--" not in sentence
