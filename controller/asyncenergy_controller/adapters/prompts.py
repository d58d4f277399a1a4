"""The text that a model is asked: read when the job runs, and never an empty one."""

from pathlib import Path

from asyncenergy_controller.errors import UsageError
from asyncenergy_controller.jobs.entry import OllamaRequest, OpenAIRequest
from asyncenergy_controller.jobs.plain_file import read_plain_file

MOST_BYTES = 16 << 20


def prompt_of(request: OllamaRequest | OpenAIRequest) -> str:
    """Return the prompt. Raises UsageError where its file can't be read, holds nothing, or is no UTF-8 text."""
    text = request.prompt if request.prompt_file is None else _read(request.prompt_file)
    if not (text or "").strip():
        raise UsageError(f"the prompt{_of(request.prompt_file)} is empty, so nothing is asked")
    return text or ""


def messages_of(request: OllamaRequest | OpenAIRequest) -> list[dict[str, str]]:
    """Return the conversation so far. Raises UsageError for a prompt that can't be used."""
    before = [{"role": "system", "content": request.system}] if request.system else []
    return [*before, *(request.messages or [{"role": "user", "content": prompt_of(request)}])]


def _read(path: Path) -> str:
    try:
        raw, _ = read_plain_file(path, MOST_BYTES)
    except OSError as error:
        raise UsageError(f"prompt_file {path} can't be read: {error.strerror}") from error
    if len(raw) > MOST_BYTES:
        raise UsageError(f"prompt_file {path} is larger than {MOST_BYTES >> 20} MiB")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"prompt_file {path} is no UTF-8 text: byte {error.start}; save it as UTF-8") from error


def _of(path: Path | None) -> str:
    return f" in {path}" if path else ""
