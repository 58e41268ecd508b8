"""Before the vote nothing but motion tells who plays: the shipped policies, an arena at its shipped defaults, HTTP.

`make test-blind` does the same with 160 battles and all networks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.blind import attacks
from tests.blind.campaign import manifest_of
from tests.blind.peek import SIDES, Peeked, peek_at_many
from tests.blind.report import naming_by
from tests.stack import Arena

pytestmark = [pytest.mark.stack, pytest.mark.timeout(900)]
BATTLES, AT_ONCE = 12, 6


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    arena = Arena(tmp_path_factory.mktemp("blind") / "var")
    try:
        arena.start()
        yield arena
    finally:
        arena.close()


@pytest.fixture(scope="module")
def manifest(arena: Arena) -> dict[str, Any]:
    return manifest_of(arena.url)


@pytest.fixture(scope="module")
def battles(arena: Arena) -> list[Peeked]:
    found = peek_at_many(arena.url, BATTLES, AT_ONCE)
    assert len(found) == BATTLES
    assert len({model for peeked in found for model in peeked.models.values()}) >= 4
    return found


def test_form_and_time_name_no_side_better_than_chance(battles: list[Peeked], manifest: dict[str, Any]) -> None:
    assert naming_by("form", battles, manifest).p > 0.002
    assert naming_by("form and time", battles, manifest).p > 0.002


def test_no_exact_number_can_be_fetched_for_the_networks_to_be_tried_on(battles: list[Peeked]) -> None:
    assert [attacks.named_exactly(peeked, side) for peeked in battles for side in SIDES] == [None] * 2 * BATTLES
    for peeked in battles:
        for side in SIDES:
            for part in ("states.bin", "replay.bin"):
                reply = peeked.reply(f"episode/{part}:{side}")
                assert reply is not None
                assert (reply.status, reply.json()["code"]) == (409, "not_voted")
            episode = peeked.reply(f"episode:{side}")
            assert episode is not None
            told = episode.json()
            assert told["actions"] == []
            assert all(state["qvel"] == [] for state in told["states"])
            assert told["exact"] is False
            assert told["secret"] is None


def test_both_sides_have_as_many_bytes_and_the_same_headers(battles: list[Peeked]) -> None:
    for peeked in battles:
        left, right = (peeked.reply(f"episode/view.bin:{side}") for side in SIDES)
        assert left is not None
        assert right is not None
        assert len(left.body) == len(right.body) <= 21_000
        assert set(left.headers) == set(right.headers)
        assert left.headers["content-length"] == right.headers["content-length"]


def test_what_a_battle_begins_with_has_one_size_and_the_same_headers(battles: list[Peeked]) -> None:
    made = [reply for peeked in battles if (reply := peeked.reply("start")) is not None]
    assert len(made) == BATTLES
    assert all(reply.json()["start"] for reply in made)
    assert len({len(reply.body) for reply in made}) == 1
    assert len({tuple(sorted(reply.headers)) for reply in made}) == 1
