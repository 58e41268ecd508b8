"""What files say is taken as it is written; what is no file of a game is refused with its field."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.wormarena.files import changed, game, without
from wormarena import game_file
from wormarena.game_file import GameRefused, parse

Json = dict[str, Any]


def facts(document: Json) -> game_file.GameFacts:
    return parse(json.dumps(document).encode())


def test_times_without_a_zone_are_utc() -> None:
    assert facts(game()).started_at == datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)


def test_a_file_without_metadata_number_of_apples_and_times_leaves_them_out() -> None:
    document = without(game(started_at=None, ended_at=None, board={"width": 9, "height": 8}), "metadata")
    found = facts(document)
    assert (found.num_apples, found.started_at, found.ended_at) == (None, None, None)
    assert (found.width, found.height, found.game_id) == (9, 8, "g-1")


def test_the_id_in_the_metadata_stands_in_for_one_that_is_missing() -> None:
    document = changed(game("other"), "game.id", None)
    assert facts(document).game_id == "other"


def test_names_are_never_folded() -> None:
    name = " Model: X:free  "
    assert facts(changed(game(), "players.0.name", name)).players[0].name == name


def test_line_ends_and_indentation_make_no_other_content() -> None:
    plain, indented = json.dumps(game()), json.dumps(game(), indent=2).replace("\n", "\r\n")
    assert parse(plain.encode()).content_hash == parse(indented.encode()).content_hash


def test_a_move_drawn_for_a_provider_that_failed_is_known_by_its_rationale() -> None:
    moves = facts(game()).moves
    assert [move.is_provider_error for move in moves] == [False, False, True, False]


@pytest.mark.parametrize("place", ["players.0.totals.cost", "frames.1.moves.0.cost"])
def test_a_negative_cost_is_a_price_that_nobody_knew(place: str) -> None:
    """SnakeBench multiplies tokens by OpenRouter's price of -1, which stands for "it depends"."""
    found = facts(changed(game(), place, -917.0))
    assert [player.spent.cost for player in found.players] == [None, 0.25]
    assert found.spent.cost is None
    assert [player.spent.input_tokens for player in found.players] == [100, 100]


def test_only_the_moves_with_a_negative_cost_lose_it() -> None:
    found = facts(changed(game(), "frames.1.moves.0.cost", -0.5))
    assert [move.spent.cost for move in found.moves] == [0.001, 0.001, None, 0.001]


def test_a_negative_total_is_unknown_though_its_players_costs_are_known() -> None:
    found = facts(changed(game(), "totals.cost", -1))
    assert (found.spent.cost, found.players[0].spent.cost) == (None, 0.25)


def test_a_nul_in_reasons_is_replaced() -> None:
    found = facts(changed(game(), "frames.0.moves.0.rationale", "left\0 or right"))
    assert found.moves[0].rationale == "left\ufffd or right"


def expensive(document: Json, cost: float) -> Json:
    """Seven copies of its rounds, each move of which costs so much."""
    rounds = [changed(document["frames"][0], "round", number) for number in range(7)]
    for slot in ("0", "1"):
        rounds = [changed(each, f"moves.{slot}.cost", cost) for each in rounds]
    return changed(document, "frames", rounds)


BAD: dict[str, tuple[Callable[[Json], Json], str]] = {
    "unknown result": (lambda file: changed(file, "players.1.result", "drawn"), "players.1.result"),
    "negative tokens": (
        lambda file: changed(file, "players.0.totals.input_tokens", -1),
        "players.0.totals.input_tokens",
    ),
    "negative tokens of a move": (
        lambda file: changed(file, "frames.0.moves.1.output_tokens", -5),
        "frames.0.moves.1.output_tokens",
    ),
    "a score beyond reason": (lambda file: changed(file, "players.0.final_score", 2**53), "players.0.final_score"),
    "a board beyond reason": (lambda file: changed(file, "game.board.width", 10**6), "game.board.width"),
    "tokens beyond reason": (lambda file: changed(file, "totals.input_tokens", 10**18), "totals.input_tokens"),
    "moves that cost beyond reason": (lambda file: expensive(file, 1000.0), "frames"),
    "fractional score": (lambda file: changed(file, "players.0.final_score", 1.5), "players.0.final_score"),
    "truth for a number": (lambda file: changed(file, "players.0.final_score", True), "players.0.final_score"),
    "empty name": (lambda file: changed(file, "players.0.name", ""), "players.0.name"),
    "no slot 1": (lambda file: changed(file, "players", {"0": file["players"]["0"]}), "players"),
    "slots from 1": (
        lambda file: changed(file, "players", {"1": file["players"]["0"], "2": file["players"]["1"]}),
        "players",
    ),
    "another version": (lambda file: changed(file, "version", 2), "version"),
    "the old format": (lambda file: {"metadata": {}, "rounds": []}, "version"),
    "no time": (lambda file: changed(file, "game.started_at", "yesterday"), "game.started_at"),
    "a path for an id": (lambda file: changed(file, "game.id", "../../etc"), "game.id"),
    "an unknown move": (lambda file: changed(file, "frames.1.moves.0.move", "JUMP"), "frames.1.moves.0.move"),
    "a round twice": (lambda file: changed(file, "frames.1.round", 0), "frames"),
    "half a cell": (lambda file: changed(file, "frames.0.state.snakes.0", [[1]]), "frames.0.state.snakes.0"),
    "a letter that is none": (lambda file: changed(file, "players.0.name", "a\0b"), "players.0.name"),
    "half a letter in reasons": (
        lambda file: changed(file, "frames.0.moves.0.rationale", "\ud800"),
        "frames.0.moves.0.rationale",
    ),
    "a cost in words": (lambda file: changed(file, "totals.cost", "1 dollar"), "totals.cost"),
    "a cost beyond reason": (lambda file: changed(file, "totals.cost", 1e300), "totals.cost"),
    "frames that are no list": (lambda file: changed(file, "frames", {}), "frames"),
}


@pytest.mark.parametrize("what", BAD)
def test_what_is_no_game_is_refused_with_its_field(what: str) -> None:
    spoil, field = BAD[what]
    with pytest.raises(GameRefused) as refusal:
        facts(spoil(game()))
    assert refusal.value.field == field


TEXTS: dict[str, tuple[Callable[[str], bytes], str]] = {
    "truncated": (lambda text: text[:-20].encode(), "not all of it"),
    "two documents": (lambda text: (text + text).encode(), "something follows"),
    "not a number": (lambda text: text.replace("0.5", "NaN").encode(), "NaN"),
    "endless": (lambda text: text.replace("0.5", "1e999").encode(), "too large"),
    "a slot twice": (lambda text: text.replace('"players": {', '"players": {"0": {},').encode(), "is there twice"),
    "not text": (lambda text: b"\xff\xfe\x00", "not UTF-8"),
    "a list": (lambda text: b"[]", "not a JSON object"),
    "deep": (lambda text: b"[" * 200_000, "nested too deeply"),
    "deep inside": (
        lambda text: text.replace('"version": 1', '"version": 1, "x": ' + "[" * 50_000 + "]" * 50_000).encode(),
        "nested too deeply",
    ),
    "a number of digits": (lambda text: text.replace("0.5", "9" * 5000).encode(), "too long"),
}


@pytest.mark.parametrize("what", TEXTS)
def test_what_is_no_document_is_refused_as_a_whole(what: str) -> None:
    spoil, why = TEXTS[what]
    with pytest.raises(GameRefused, match=why):
        parse(spoil(json.dumps(game())))


def test_a_huge_file_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_file, "MOST_BYTES", 100)
    with pytest.raises(GameRefused, match="at most 100"):
        parse(json.dumps(game()).encode())
