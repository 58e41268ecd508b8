"""Refusals of voice have the shape of all others: a status, a code that is one word of its own, and a sentence."""

from __future__ import annotations

import re

import pytest

from arena import errors as core
from arena.errors import ArenaError
from voice.battles import errors
from voice.proxy import consumer

REFUSALS = [
    each
    for each in vars(errors).values()
    if isinstance(each, type) and issubclass(each, ArenaError) and each is not ArenaError
]
CORE = {
    each.code: each
    for each in vars(core).values()
    if isinstance(each, type) and issubclass(each, ArenaError) and each is not ArenaError
}


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_refusal_has_a_code_of_its_own_and_a_sentence(refusal: type[ArenaError]) -> None:
    body = refusal().body()
    assert body.keys() == {"code", "detail"}
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", body["code"])
    assert body["detail"].endswith(".")
    assert body["detail"] != ArenaError.detail
    assert refusal.status in (409, 422, 503)
    assert body["code"] not in CORE
    assert sum(each.code == refusal.code for each in REFUSALS) == 1


@pytest.mark.parametrize("close_code", consumer.DETAILS)
def test_a_refusal_on_the_socket_has_the_same_two_fields(close_code: int) -> None:
    code, sentence = consumer.DETAILS[close_code]
    assert 4000 <= close_code < 5000, "of those that applications may choose"
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", code)
    assert sentence.endswith(".")


def test_what_the_api_and_the_socket_both_refuse_has_one_word() -> None:
    of_sockets = {code for code, _ in consumer.DETAILS.values()}
    assert {errors.SlotUsed.code, errors.CallRunning.code, core.NotFound.code} <= of_sockets
