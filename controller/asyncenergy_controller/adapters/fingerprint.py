"""What the cost of a job depends on, as a digest. What changes from night to night without changing it is left out."""

import hashlib
import hmac
import json
import re
from pathlib import PurePath
from typing import Any

from asyncenergy_controller.jobs.entry import ChargeRequest, CommandRequest, JobEntry, OllamaRequest, OpenAIRequest

_VOLATILE = re.compile(
    r"""[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}   # UUID
      | \d{4}-\d\d-\d\d (?:[T_ ]? \d\d[:.-]?\d\d (?:[:.-]?\d\d(?:\.\d+)?)? (?:Z|[+-]\d\d:?\d\d)?)?  # date, time
      | \b20\d{6}(?:[T_-]?\d{4,6})?\b    # 20260102, 20260102T0304
      | \b1[5-9]\d{8}(?:\d{3})?\b        # seconds or milliseconds since 1970
      | (?<![A-Za-z0-9])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{12,64}(?![A-Za-z0-9])  # digest
      | /(?:var/)?tmp/\S+                # a folder that is gone tomorrow
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SEED = re.compile(r"^(--?(?:random[-_]?)?seed)(?:=.*)?$", re.IGNORECASE)
_SAMPLING = frozenset({"seed", "temperature", "top_p", "top_k", "min_p", "stop"})


def fingerprint(entry: JobEntry, salt: bytes) -> str:
    """Return 32 hex digits: the same for tonight's prompt, date and seed as for tomorrow's.

    `salt` is this machine's and stays here: without it nobody can try which command it might be.
    """
    told = json.dumps([entry.framework, _cost_of(entry.request)], sort_keys=True, default=str)
    return hmac.new(salt, told.encode(), hashlib.sha256).hexdigest()[:32]


def _cost_of(request: CommandRequest | OllamaRequest | OpenAIRequest | ChargeRequest) -> Any:
    match request:
        case CommandRequest():
            return [_words(request.command), request.cost_features]
        case OllamaRequest():
            settings = {name: value for name, value in request.options.items() if name not in _SAMPLING}
            return [request.model, settings, request.think]
        case OpenAIRequest():
            return [request.model, request.max_tokens, request.n, request.reasoning_effort]
        case ChargeRequest():
            return [request.hold_s, request.until_wh]


def _words(command: tuple[str, ...]) -> list[str]:
    """The program by its name, whatever folder it lies in; seeds without their value."""
    kept = [PurePath(command[0]).name]
    before = ""
    for word in command[1:]:
        seed = _SEED.match(word)
        kept.append(seed[1] if seed else "" if _is_bare_seed(before) else _VOLATILE.sub("*", word))
        before = word
    return kept


def _is_bare_seed(word: str) -> bool:
    return _SEED.match(word) is not None and "=" not in word
