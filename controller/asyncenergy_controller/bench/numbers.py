"""How a figure is written for a person."""


def number(value: float | None) -> str:
    """Four significant digits, never rounded to 0; a dash for what was not measured."""
    if value is None:
        return "-"
    return f"{value:.1f}" if abs(value) >= 1000 else f"{value:.4g}"
