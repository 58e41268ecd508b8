"""What the votes of files weigh. Loads nothing, since the web reads counts files."""


def trust_of(text: str) -> float | None:
    """What a vote weighs, above 0 and at most 1; empty: 1. None for any other text."""
    try:
        found = float(text or 1.0)
    except ValueError:
        return None
    return found if 0.0 < found <= 1.0 else None
