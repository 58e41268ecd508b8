"""A kind that could not work is refused where it registers, in words that say what would be right."""

from __future__ import annotations

from typing import Any

import pytest

from arena import kinds
from tests.coin.kind import Coin


def coin(**answers: Any) -> Coin:
    return type("OtherCoin", (Coin,), answers)()


@pytest.mark.parametrize("name", ["id", "address", "template"])
def test_a_kind_without_a_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"OtherCoin needs '{name}', a string"):
        kinds.register(coin(**{"id": "other", "address": "other", name: ""}))


@pytest.mark.parametrize(("name", "taken"), [("id", "robots"), ("address", "battle")])
def test_a_name_that_another_kind_has_is_refused_with_all_that_are_taken(name: str, taken: str) -> None:
    told = f"a kind with the {name} '{taken}' already.*taken: {taken}, text, voice, echo, coin"
    with pytest.raises(ValueError, match=told):
        kinds.register(coin(**{"id": "other", "address": "other", name: taken}))


def test_the_same_kind_again_changes_nothing() -> None:
    before = kinds.every()
    kinds.register(Coin())
    assert kinds.every() == before
