"""Rows that would read the same, and the settings that tell them apart."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.text import Truncator

from bench.pages.board import Row, config_line
from bench.pages.configuration import is_setting, plain, term
from bench.selectors import configs_of

Config = Mapping[str, Any]
IDENTITY = (
    "weights_repo",
    "weights_revision",
    "weights_digest",
    "methodology_version",
)  # for want of others
LONGEST = 24


def config_lines(rows: Sequence[Row]) -> dict[str, str]:
    """The settings in one line of the rows that would read the same, by key; one query if there are any:
    ``Q4_K_M · vllm 0.9.1 · RTX 3090 · CUDA graphs on``."""
    groups = _groups(rows)
    configs = configs_of([row["config_key"] for group in groups for row in group]) if groups else {}
    return {key: words for group in groups for key, words in _apart(group, configs)}


def _groups(rows: Sequence[Row]) -> list[list[Row]]:
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["model"], config_line(row)].append(row)
    return [group for group in groups.values() if len({row["config_key"] for row in group}) > 1]


def _apart(group: Sequence[Row], configs: Mapping[str, Config]) -> Iterator[tuple[str, str]]:
    own = [configs.get(row["config_key"], {}) for row in group]
    names = dict.fromkeys(name for config in own for name in config if is_setting(name))
    different = [name for name in names if len({str(config.get(name)) for config in own}) > 1]
    telling = [name for name in different if name not in IDENTITY] or different[:1]
    for row, config in zip(group, own, strict=True):
        words = [_setting(name, config.get(name)) for name in telling]
        yield row["config_key"], " · ".join([config_line(row), *words])


def _setting(name: str, value: Any) -> str:
    return f"{term(name)} {'not recorded' if value is None else Truncator(plain(name, value)).chars(LONGEST)}"
