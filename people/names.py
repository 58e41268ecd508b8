"""Names that visitors give: to themselves, and to their tokens."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy


def cleaned(name: str) -> str:
    """Without surplus white space. Raises ValidationError for what does not print."""
    name = " ".join(name.split())
    if not name.isprintable():
        raise forms.ValidationError(gettext_lazy("A name has letters, digits and punctuation only."))
    return name
