"""Texts that visitors send beside JSON: instructions, the Prefer header, cookies, forwarded addresses."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.test import RequestFactory, override_settings
from hypothesis import strategies as st

from arena.api.serializers import is_public_id
from arena.api.turns import LONGEST_WAIT_S, _wait_wanted
from arena.errors import InvalidInstruction
from arena.instructions import clean_instruction
from arena.visitors import cookies, throttles
from simulation import catalogue
from simulation.goals import goal_for
from simulation.matching import normalise
from tests.fuzz.damage import anything, damaged_bytes
from tests.fuzz.effort import fuzz

KNOWN = [one.text for one in catalogue.instructions()]
HEADER = st.text(st.characters(max_codepoint=255, exclude_characters="\r\n"), max_size=80)
sentences = st.one_of(
    st.text(max_size=600),
    st.sampled_from(KNOWN),
    st.builds("{1}{0}{2}".format, st.sampled_from(KNOWN), st.text(max_size=5), st.text(max_size=5)),
    st.sampled_from(["wait=", "the " * 125, "\u202e" * 9, "{object}", "{0.__class__}", "%s%n", "a" * 201]),
)


@fuzz("instructions", 800, said=st.one_of(sentences, anything))
def test_an_instruction_is_a_clean_line_or_refused(said: object) -> None:
    try:
        text = clean_instruction(said)
    except InvalidInstruction:
        return
    assert 0 < len(text) <= settings.INSTRUCTION_MAX_LENGTH
    assert clean_instruction(text) == text
    assert not set(text) & set("\r\n\0\u2028\u202e")
    text.encode()


@fuzz("instructions", 800, text=sentences)
def test_any_sentence_has_one_meaning_or_none(text: str) -> None:
    found = catalogue.task_for(text)
    assert found in (None, catalogue.task_for(normalise(text)))
    assert (goal_for(text) is None) == (found is None)
    if found:
        assert catalogue.task(found[0]).slots.count(found[1]) == 1


def test_every_wording_of_the_catalogue_is_understood_as_what_it_was_made_from() -> None:
    for one in catalogue.instructions():
        scene_id = catalogue.task(one.task_id).scene_id
        assert catalogue.task_for(f" {one.text.upper()}!", scene_id) == (one.task_id, dict(one.slots))


@fuzz("headers", 500, value=st.one_of(HEADER, st.from_regex(r"(wait|WAIT|foo)\s{0,3}=?\s?\"?\d{0,12}\"?[,; ]?.{0,9}")))
def test_a_wait_that_is_preferred_is_bounded(value: str) -> None:
    assert 0 <= _wait_wanted({"Prefer": value}) <= LONGEST_WAIT_S


@pytest.mark.parametrize(
    ("value", "seconds"), [("wait=5", 5), ("respond-async, wait=999999999999", 60), ("await=5", 0), ("wait=-1", 0)]
)
def test_a_wait_is_read_as_written(value: str, seconds: int) -> None:
    assert _wait_wanted({"Prefer": value}) == seconds


@fuzz(
    "headers",
    500,
    value=st.one_of(
        HEADER, damaged_bytes(b"arena_visitor=e30:1abc:xyz; sessionid=1").map(lambda raw: raw.decode("latin-1"))
    ),
)
def test_a_cookie_that_we_did_not_sign_is_nobody(value: str) -> None:
    assert cookies.visitor_of_scope({"headers": [(b"cookie", value.encode("latin-1"))]}) is None
    assert cookies.visitor_of(RequestFactory().get("/", headers={"Cookie": value})) is None


@fuzz("headers", 500, forwarded=st.one_of(HEADER, st.ip_addresses().map(str)), proxies=st.integers(0, 3))
def test_a_forwarded_address_is_only_a_text(forwarded: str, proxies: int) -> None:
    with override_settings(TRUSTED_PROXIES=proxies):
        request = RequestFactory().get("/", headers={"X-Forwarded-For": forwarded})
        assert isinstance(throttles.address_of(request), str)


@fuzz("headers", 500, text=st.one_of(st.text(max_size=60), st.from_regex(r"(battle|turn|x)_[0-9a-fA-F]{30,33}\n?")))
def test_what_looks_like_an_id_is_one_in_full(text: str) -> None:
    if is_public_id(text):
        kind, _, number = text.partition("_")
        assert kind in {"sess", "battle", "turn", "ep", "vote"}
        assert len(number) == 32
        assert int(number, 16) >= 0
