"""The 25 kinds of instruction of ifeval, each a check of a text. Pure.

Sentences end with . ! or ? before a capital, a quotation mark or the end; common abbreviations do not end one.
Words are runs of letters, digits and underscores. The language of a text is recognised by py3langid.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from asyncenergy_controller.tasks.base import TaskError

Given = Mapping[str, Any]

_ABBREVIATION = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|etc|Inc|Ltd|Co|No|e\.g|i\.e|a\.m|p\.m|U\.S|[A-Z])\.(?=\s)"
)
_SENTENCE_END = re.compile(r"[.!?]+[\"'”’)\]*]*(?=\s+[\"'“‘(\[*]*[^\sa-z]|\s*$)")
_WORD = re.compile(r"\w+")
_BULLET = re.compile(r"^\s*(?:\*(?!\*)|-).+$", re.MULTILINE)
_HIGHLIGHT = re.compile(r"\*\*[^\n*]*[^\s*][^\n*]*\*\*|(?<!\*)\*[^\n*]*[^\s*][^\n*]*\*(?!\*)")


def follows(name: str, text: str, given: Given) -> bool:
    """Whether `text` follows the instruction `name` with its parameters."""
    return RULES[name](text, given)


def count_sentences(text: str) -> int:
    """How many sentences a text has; text after the last end mark is one more."""
    plain = _ABBREVIATION.sub(lambda match: match.group()[:-1], text.strip())
    ends = [match.end() for match in _SENTENCE_END.finditer(plain)]
    rest = plain[ends[-1] if ends else 0 :]
    return len(ends) + bool(_WORD.search(rest))


def language_of(text: str) -> str:
    """The ISO 639-1 code of a text's language."""
    try:
        from py3langid import classify  # type: ignore[import-untyped]  # ships no types
    except ImportError as error:
        raise TaskError(
            "ifeval recognises languages with py3langid: pip install 'asyncenergy-controller[datasets]'."
        ) from error
    code: str = classify(text)[0]
    return code


def _as_wanted(count: int, relation: str | None, wanted: int) -> bool:
    return count < wanted if relation == "less than" else count >= wanted


def _all_keywords(text: str, given: Given) -> bool:
    return all(re.search(re.escape(word), text, re.IGNORECASE) for word in given["keywords"])


def _keyword_frequency(text: str, given: Given) -> bool:
    count = len(re.findall(re.escape(given["keyword"].strip()), text, re.IGNORECASE))
    return _as_wanted(count, given.get("relation"), int(given["frequency"]))


def _no_forbidden_word(text: str, given: Given) -> bool:
    return not any(re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE) for word in given["forbidden_words"])


def _letter_frequency(text: str, given: Given) -> bool:
    count = text.lower().count(given["letter"].lower())
    return _as_wanted(count, given.get("let_relation"), int(given["let_frequency"]))


def _in_language(text: str, given: Given) -> bool:
    return language_of(text) == str(given["language"])


def _sentences(text: str, given: Given) -> bool:
    return _as_wanted(count_sentences(text), given.get("relation"), int(given["num_sentences"]))


def _words(text: str, given: Given) -> bool:
    return _as_wanted(len(_WORD.findall(text)), given.get("relation"), int(given["num_words"]))


def _paragraphs(text: str, given: Given) -> bool:
    """Paragraphs are divided by ***; one may lack before the first or after the last divider."""
    parts = [part.strip() for part in text.split("***")]
    count = len([part for part in parts if part])
    return all(parts[1:-1]) and count == int(given["num_paragraphs"])


def _nth_paragraph_first_word(text: str, given: Given) -> bool:
    """Paragraphs are divided by empty lines."""
    parts = [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]
    nth = int(given["nth_paragraph"])
    if len(parts) != int(given["num_paragraphs"]) or not 1 <= nth <= len(parts):
        return False
    first = parts[nth - 1].split()[0].strip("\"'“”‘’*_([").rstrip(".,!?:;)]\"'”’*_")
    return first.lower() == str(given["first_word"]).lower()


def _placeholders(text: str, given: Given) -> bool:
    return len(re.findall(r"\[[^\]]*\]", text)) >= int(given["num_placeholders"])


def _postscript(text: str, given: Given) -> bool:
    letters = re.findall(r"[A-Za-z]", given["postscript_marker"])
    marker = r"\.\s?".join(letters)
    return re.search(rf"(?:^|\s){marker}\b\.?", text, re.IGNORECASE) is not None


def _bullets(text: str, given: Given) -> bool:
    return len(_BULLET.findall(text)) == int(given["num_bullets"])


def _one_of_the_given_answers(text: str, given: Given) -> bool:
    return any(f"My answer is {word}." in text for word in ("yes", "no", "maybe"))


def _highlights(text: str, given: Given) -> bool:
    return len(_HIGHLIGHT.findall(text)) >= int(given["num_highlights"])


def _sections(text: str, given: Given) -> bool:
    marks = re.findall(rf"{re.escape(given['section_spliter'].strip())}\s?\d+", text)
    return len(marks) >= int(given["num_sections"])


def _json(text: str, given: Given) -> bool:
    bare = re.sub(r"^```(?:json)?\s*|\s*```$", "", text.strip(), flags=re.IGNORECASE)
    try:
        json.loads(bare)
    except ValueError:
        return False
    return True


def _title(text: str, given: Given) -> bool:
    return any(title.strip() for title in re.findall(r"<<([^\n]+?)>>", text))


def _two_responses(text: str, given: Given) -> bool:
    parts = [part.strip() for part in text.split("******")]
    first_and_last_may_be_empty = [part for place, part in enumerate(parts) if part or 0 < place < len(parts) - 1]
    match first_and_last_may_be_empty:
        case [one, other]:
            return bool(one and other and one != other)
    return False


def _repeats_the_prompt(text: str, given: Given) -> bool:
    return text.strip().lower().startswith(given["prompt_to_repeat"].strip().lower())


def _ends_with(text: str, given: Given) -> bool:
    return text.strip().strip('"').lower().endswith(given["end_phrase"].strip().strip('"').lower())


def _capital_words(text: str, given: Given) -> bool:
    count = sum(word.isupper() for word in re.findall(r"[\w'’-]+", text))
    return _as_wanted(count, given.get("capital_relation"), int(given["capital_frequency"]))


def _all_capital(text: str, given: Given) -> bool:
    return text.isupper()


def _all_lower(text: str, given: Given) -> bool:
    return text.islower()


def _no_comma(text: str, given: Given) -> bool:
    return "," not in text


def _in_quotation_marks(text: str, given: Given) -> bool:
    bare = text.strip()
    return len(bare) > 1 and bare[0] == bare[-1] == '"'


RULES: dict[str, Callable[[str, Given], bool]] = {
    "keywords:existence": _all_keywords,
    "keywords:frequency": _keyword_frequency,
    "keywords:forbidden_words": _no_forbidden_word,
    "keywords:letter_frequency": _letter_frequency,
    "language:response_language": _in_language,
    "length_constraints:number_sentences": _sentences,
    "length_constraints:number_paragraphs": _paragraphs,
    "length_constraints:number_words": _words,
    "length_constraints:nth_paragraph_first_word": _nth_paragraph_first_word,
    "detectable_content:number_placeholders": _placeholders,
    "detectable_content:postscript": _postscript,
    "detectable_format:number_bullet_lists": _bullets,
    "detectable_format:constrained_response": _one_of_the_given_answers,
    "detectable_format:number_highlighted_sections": _highlights,
    "detectable_format:multiple_sections": _sections,
    "detectable_format:json_format": _json,
    "detectable_format:title": _title,
    "combination:two_responses": _two_responses,
    "combination:repeat_prompt": _repeats_the_prompt,
    "startend:end_checker": _ends_with,
    "startend:quotation": _in_quotation_marks,
    "change_case:capital_word_frequency": _capital_words,
    "change_case:english_capital": _all_capital,
    "change_case:english_lowercase": _all_lower,
    "punctuation:no_comma": _no_comma,
}
