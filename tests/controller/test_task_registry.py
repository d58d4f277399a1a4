"""All tasks by name."""

import subprocess
import sys

import pytest
from asyncenergy_controller.errors import ExitCode, UsageError
from asyncenergy_controller.tasks.base import UnknownTask
from asyncenergy_controller.tasks.registry import TASK_NAMES, get_task
from asyncenergy_controller.wire import KNOWN_TASKS, SHIPPED_ANSWER_TASKS


@pytest.mark.parametrize("name", TASK_NAMES)
def test_every_task_is_complete_and_known_to_the_bundle(name):
    task = get_task(name)
    assert task.name == name
    assert name in KNOWN_TASKS
    assert task.default_max_tokens > 0
    assert isinstance(task.stop, tuple)
    assert task.is_canary == (name == "hellaswag")
    assert task.extract("") is None


def test_the_suites_tasks_are_all_there():
    wanted = {"arith", "gsm8k", "gsm8k_platinum", "mmlu_redux", "ifeval", "math500", "gpqa_diamond", "hellaswag"}
    assert {*wanted, "longctx_summary"} == set(TASK_NAMES)


@pytest.mark.parametrize("name", sorted({"ifeval", "longctx_summary"}))
def test_tasks_whose_answers_are_not_shipped_extract_none(name):
    assert name not in SHIPPED_ANSWER_TASKS
    assert get_task(name).extract("The answer is 7.") is None


def test_an_unknown_task_names_the_known_ones():
    with pytest.raises(UnknownTask, match="'gms8k'.*arith.*gsm8k.*math500") as caught:
        get_task("gms8k")
    assert caught.value.exit_code is ExitCode.USAGE


def test_only_arith_has_levels():
    assert getattr(get_task("arith", level=3), "level", None) == 3
    with pytest.raises(UsageError, match="no levels"):
        get_task("gsm8k", level=2)
    with pytest.raises(UsageError, match="levels 1 to 5"):
        get_task("arith", level=6)


def test_importing_the_tasks_opens_no_connection_and_reads_no_data_set():
    heavy = ("huggingface_hub", "pyarrow", "httpx2", "numpy", "py3langid", "django")
    program = "import sys, asyncenergy_controller.tasks.registry; print([m for m in sys.argv[1:] if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program, *heavy], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
