"""What somebody agrees to before a run leaves the machine."""

CONSENT_VERSION = "1"

CONSENT_TEXT = """\
What is shared when you submit a run
  - The model, engine and settings by name; the GPU or CPU by its product name; driver versions.
  - The raw power trace (about five readings a second) and, for each question, its start, end, token
    counts, whether the answer was right and, for tasks with short answers, the final answer
    (at most 32 characters).
  - A salted hash that stands for this machine. The salt stays here.

What never leaves this machine
  - Prompts, completions, commands, file paths, host names, serial numbers, hardware ids.

What is published
  - After a maintainer's decision, the figures, the trace with relative times and the date without
    its clock time. Your account is never shown.
  - The data are licensed CC BY 4.0. That licence can't be recalled from those who already have a
    copy: withdrawing a run hides it here and nowhere else.

You can withdraw any run, and you can delete your account; you then choose whether its published
figures stay, unlinked, or are withdrawn.

  opt in:   async-energy-controller bench opt-in
  opt out:  async-energy-controller bench opt-out
"""
