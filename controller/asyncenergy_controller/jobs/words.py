"""A command written as one string: split into words as a shell would, and run by none."""

import shlex

OPERATORS = "|&;<>()$`"


def split_command(text: str) -> list[str]:
    """Return the words of a command. Raises ValueError where only a shell would understand it."""
    for word in _raw_words(text):
        if set(word) & set(OPERATORS) and word[0] not in "'\"":
            raise ValueError(
                f"{word!r} means something to a shell only, and none is used: write the command as a list, such as "
                f'["sh", "-c", "…"]'
            )
    return shlex.split(text)


def _raw_words(text: str) -> list[str]:
    """Words with their quotes, so that a quoted operator is told from a bare one."""
    lexer = shlex.shlex(text, posix=False, punctuation_chars=OPERATORS)
    lexer.commenters = ""
    return list(lexer)
