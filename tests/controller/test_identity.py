"""The name by which the server knows a box."""

import platform
import stat
import threading
from concurrent.futures import ThreadPoolExecutor

from asyncenergy_controller.identity import controller_id, kept_controller_id, machine_salt
from asyncenergy_controller.settings import load_settings


def settings_of(tmp_path, **given):
    return load_settings(config_dir=tmp_path / "config", state_dir=tmp_path / "state", **given)


def test_the_made_name_stays_the_same_and_is_not_the_host_name(tmp_path):
    settings = settings_of(tmp_path).model_copy(update={"controller_id": None})
    name = controller_id(settings)
    assert controller_id(settings) == name
    assert platform.node().partition(".")[0] not in name
    assert stat.S_IMODE((tmp_path / "state" / "controller_id").stat().st_mode) == 0o600


def test_two_boxes_have_two_names(tmp_path):
    settings = [settings_of(tmp_path / box).model_copy(update={"controller_id": None}) for box in ("a", "b")]
    assert len({controller_id(one) for one in settings}) == 2


def test_a_chosen_name_wins(tmp_path):
    assert controller_id(settings_of(tmp_path, controller_id="attic")) == "attic"
    assert not (tmp_path / "state" / "controller_id").exists()


def test_all_who_begin_at_once_get_the_same_name_and_salt(tmp_path):
    together = threading.Barrier(8)

    def begin(_):
        together.wait(5)
        return kept_controller_id(tmp_path), machine_salt(tmp_path)

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(begin, range(8)))) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["controller_id", "salt"]
