"""Variables of the environment: a value of the declared kind, or ImproperlyConfigured naming the variable."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from hypothesis import strategies as st

from tests.fuzz.effort import fuzz
from vlaarena import env

NAME = "ARENA_FUZZED"
ODD = [
    "nan",
    "inf",
    "-inf",
    "1e999",
    "1_000",
    "٣",
    "9" * 5000,
    "1/minute",
    "9" * 5000 + "/hour",
    "5/",
    "/day",
    "true",
    " ,",
    "1/minute,2/hour",
    "0/minute",
    "-1/day",
    "²/minute",
]
raw = st.one_of(
    st.sampled_from(ODD),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30),
    st.from_regex(r"[0-9_.eE+-]{1,12}", fullmatch=True),
    st.from_regex(r"[0-9]{0,12}/(minute|hour|day|week|)(,[0-9]{0,4}/(minute|hour|day))?", fullmatch=True),
)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str, Any], Any]:
    def reading(reader: Any, text: str, default: Any) -> Any:
        monkeypatch.setitem(os.environ, NAME, text)
        return reader(NAME, default)

    return reading


@fuzz("settings", 600, text=raw)
def test_any_text_is_a_value_or_named_as_none(read: Callable[[Any, str, Any], Any], text: str) -> None:
    for reader, default, is_good in (
        (env.number, 1.0, math.isfinite),
        (env.flag, False, lambda value: isinstance(value, bool)),
        (env.words, [], lambda value: all(word == word.strip() and word for word in value)),
        (env.rates, "1/day", lambda value: all(count > 0 and span in env.UNITS.values() for count, span in value)),
    ):
        try:
            value = read(reader, text, default)
        except ImproperlyConfigured as error:
            good = NAME in str(error)
        else:
            good = is_good(value)
        assert good


@pytest.mark.parametrize("text", ["nan", "inf", "1e999", ""])
def test_what_is_no_finite_number_is_refused(read: Callable[[Any, str, Any], Any], text: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="is not a number"):
        read(env.number, text, 1.0)


def test_a_rate_of_thousands_of_digits_is_refused(read: Callable[[Any, str, Any], Any]) -> None:
    with pytest.raises(ImproperlyConfigured, match="is not a rate"):
        read(env.rates, "9" * 5000 + "/hour", "")
