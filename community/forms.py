"""The forms in which visitors report and comment."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext, gettext_lazy

from arena.models import Turn
from community.models import LONGEST_COMMENT, LONGEST_EXPLANATION, Report

WHOLE = "battle"
LONGEST_QUOTE = 100


class PlainForm(forms.Form):
    """Its labels end as they are written, without a colon."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"label_suffix": "", **kwargs})


class ReportForm(PlainForm):
    """`about`: the whole battle, or the id of the turn whose instruction is meant. Reports on comments lack it."""

    about = forms.ChoiceField(widget=forms.RadioSelect, label=gettext_lazy("What would you like to report?"))
    reason = forms.ChoiceField(
        widget=forms.RadioSelect, choices=Report.Reason.choices, label=gettext_lazy("What is wrong with it?")
    )
    text = forms.CharField(
        required=False,
        max_length=LONGEST_EXPLANATION,
        widget=forms.Textarea(attrs={"rows": 4}),
        label=gettext_lazy("Anything that helps the moderators (optional)"),
    )

    def __init__(self, *args: Any, turns: list[Turn] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if turns is None:
            del self.fields["about"]
            return
        quoted = [(turn.turn_id, _quoted(turn)) for turn in turns]
        self.fields["about"].choices = [(WHOLE, gettext("The whole battle")), *quoted]  # type: ignore[attr-defined]
        self.fields["about"].initial = WHOLE


class CommentForm(PlainForm):
    text = forms.CharField(
        max_length=LONGEST_COMMENT,
        widget=forms.Textarea(attrs={"rows": 3}),
        label=gettext_lazy("Your comment"),
        help_text=gettext_lazy("Plain text. It shows under your name once a moderator has approved it."),
    )


def _quoted(turn: Turn) -> str:
    text = turn.public_instruction
    short = text if len(text) <= LONGEST_QUOTE else f"{text[: LONGEST_QUOTE - 1]}…"
    return gettext("The instruction “{}”").format(short)
