"""A visitor's own data: a whole copy, and a deletion that leaves nothing behind."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from django.apps import apps
from django.contrib.sessions.models import Session as LoginSession
from django.db import connection

from arena.actions.owners import REMOVED
from arena.models import Attempt, Battle, Session, Turn, Vote
from arena.store import StoreUnavailable, get_store
from people import own_data
from people.models import Account
from people.own_data import Owner, Part
from rankings.models import CountedVote, ExcludedVoter, Finding, VoteCount
from rankings.moderation import acts
from rankings.publication import aggregation
from rankings.votes import ledger
from tests.arena.conftest import cast, play, play_battle
from tests.fakes import FakeRuntime
from tests.people.conftest import ADDRESS, Person, account_of

OWN_WORDS = "greet my aunt Ada Lovelace in Ockham"


def everything() -> Iterator[tuple[str, str]]:
    """(where, text) of every value in every table and every document, login sessions decoded."""
    for model in apps.get_models(include_auto_created=True):
        if model._meta.managed:
            for row in model._base_manager.values():
                yield model._meta.label, " ".join(_text(value) for value in row.values())
    for session in LoginSession.objects.all():
        yield "login session", json.dumps(session.get_decoded())
    for document in get_store()._episodes.find({}):
        yield "episode", " ".join(_text(value) for value in document.values())


def _text(value: Any) -> str:
    if isinstance(value, bytes | memoryview):
        return bytes(value).decode("latin-1")
    return str(value)


def traces(*needles: str) -> list[tuple[str, str]]:
    return [(where, needle) for where, text in everything() for needle in needles if needle in text]


def whole(person: Person) -> dict[str, Any]:
    answer = person.client.get("/your-data/download")
    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/json"
    assert "attachment" in answer["Content-Disposition"]
    found: dict[str, Any] = json.loads(b"".join(answer.streaming_content))
    return found


def delete(person: Person) -> Any:
    return person.client.post("/your-data/delete", {"sure": "yes"})


@pytest.fixture
def player(person: Person, runtime: FakeRuntime) -> Person:
    """With a vote on a task, one on free text, and a battle without a vote. Episodes of other tests are gone."""
    get_store().delete(list(get_store().ids()))
    cast(person, play_battle(person), "left_better")
    cast(person, play_battle(person, OWN_WORDS), "tie")
    play_battle(person, OWN_WORDS)
    return person


def test_the_copy_holds_account_sessions_instructions_and_votes(player: Person) -> None:
    player.sign_up()
    player.page("/profile/", display_name="  Ada   L. ")
    copy = whole(player)
    [account] = copy["account"]
    assert account["display_name"] == "Ada L."
    assert [each["email"] for each in account["addresses"]] == [ADDRESS]
    battles = [battle for session in copy["sessions"] for battle in session["battles"]]
    assert [battle["status"] for battle in battles] == ["voted", "voted", "ongoing"]
    assert [turn["instruction"] for battle in battles for turn in battle["turns"]][1:] == [OWN_WORDS] * 2
    assert [battle["vote"]["vote"] for battle in battles[:2]] == ["left_better", "tie"]
    assert {battles[0]["left_model"], battles[0]["right_model"]} == {"alpha", "beta"}


def test_the_copy_does_not_tell_who_plays_before_the_vote(person: Person, runtime: FakeRuntime) -> None:
    battle = Battle.objects.get(battle_id=play_battle(person))
    text = json.dumps(whole(person))
    [[shown]] = [session["battles"] for session in json.loads(text)["sessions"]]
    assert set(shown) == {"battle_id", "opened_at", "status", "turns"}
    assert all(set(turn) == {"turn_id", "instruction", "sent_at"} for turn in shown["turns"])
    for hidden in ("alpha", "beta", battle.secret, *Attempt.objects.values_list("episode_id", flat=True)):
        assert hidden not in text


def test_a_visitor_without_an_account_has_a_copy_too(player: Person) -> None:
    copy = whole(player)
    assert copy["account"] == []
    assert len(copy["sessions"]) == 3


def test_a_browser_that_never_played_has_an_empty_copy(person: Person) -> None:
    assert "it has started no battle" in person.page("/your-data/").content.decode()
    assert whole(person)["sessions"] == []


def test_nobody_gets_the_data_of_another(player: Person) -> None:
    assert whole(Person())["sessions"] == []
    delete(Person())
    assert len(whole(player)["sessions"]) == 3


def test_the_cookie_of_an_account_alone_opens_nothing(player: Person) -> None:
    player.sign_up()
    player.client.cookies.pop("sessionid")
    assert "belongs to an account" in player.page("/your-data/").content.decode()
    assert player.client.get("/your-data/download")["Location"] == "/your-data/"
    assert delete(player).status_code == 422
    assert Account.objects.exists()


@pytest.mark.parametrize("with_account", [True, False])
def test_nothing_is_left_after_a_deletion(player: Person, with_account: bool, settings: Any, tmp_path: Path) -> None:
    settings.EMAIL_FILE_PATH = str(tmp_path)
    (tmp_path / "1.log").write_text(f"To: {ADDRESS}\n")
    (tmp_path / "2.log").write_text("To: grace@example.org\n")
    needles = [str(player.visitor_id), OWN_WORDS]
    if with_account:
        player.sign_up()
        user = account_of(player).user
        needles += [ADDRESS, user.username]
    acts.exclude_voter(needles[0], acts.By(None, "to see that it goes as well"))
    Finding.objects.create(kind=Finding.Kind.OUTLIER, arena="robots", subject=needles[0])
    aggregation.aggregate()
    needles += Session.objects.values_list("session_id", flat=True)
    assert {where for where, _ in traces(*needles)} > {"arena.Session", "arena.Vote", "arena.Turn", "episode"}
    assert delete(player).status_code == 200
    aggregation.aggregate()
    assert traces(*needles) == []
    if with_account:
        assert not LoginSession.objects.exists()
        assert [file.name for file in tmp_path.iterdir()] == ["2.log"]
    assert player.visitor_id is None
    assert player.get("sessions/").json()["results"] == []


def test_votes_stay_one_voters_under_a_new_number(player: Person) -> None:
    aggregation.aggregate()
    before = player.get("leaderboard").json()["rankings"] or player.get("leaderboard").json()["provisional"]
    delete(player)
    [voter] = set(Vote.objects.values_list("user_id", flat=True))
    assert set(Session.objects.values_list("user_id", flat=True)) == {voter}
    assert set(VoteCount.objects.values_list("voter", flat=True)) == {voter}
    votes = Vote.objects.order_by("pk")
    rows = CountedVote.objects.select_related("count").order_by("vote_id")
    assert list(ledger.cells_of(votes).values()) == [
        ledger.Cell(*(getattr(row.count, name) for name in ledger.Cell._fields)) for row in rows
    ]
    aggregation.aggregate()
    after = player.get("leaderboard").json()["rankings"] or player.get("leaderboard").json()["provisional"]
    assert [(row["model_id"], row["vote_count"], row["elo_score"]) for row in after] == [
        (row["model_id"], row["vote_count"], row["elo_score"]) for row in before
    ]


def test_an_excluded_voter_stays_out_after_a_deletion(player: Person) -> None:
    acts.exclude_voter(str(player.visitor_id), acts.By(None, "stuffs votes"))
    delete(player)
    [voter] = set(Vote.objects.values_list("user_id", flat=True))
    assert ExcludedVoter.objects.get().voter == voter
    assert not CountedVote.objects.filter(counted=True).exists()


def test_sentences_of_the_catalogue_stay_and_own_words_go(player: Person) -> None:
    delete(player)
    assert sorted(Turn.objects.values_list("instruction", flat=True)) == [REMOVED, REMOVED, "pick up the red cube"]
    stored = sorted(document["instruction"] for document in get_store()._episodes.find({}))
    assert stored == [REMOVED] * 4 + ["pick up the red cube"] * 2


def test_open_battles_are_closed_and_voted_ones_can_still_be_watched(player: Person) -> None:
    voted = Vote.objects.order_by("pk")[0].battle_id
    delete(player)
    assert set(Battle.objects.values_list("status", flat=True)) == {"voted", "abandoned"}
    assert player.client.get(f"/b/{voted}").status_code == 200
    assert player.get(f"shared/{voted}").status_code == 200
    assert player.get(f"battles/{voted}").status_code == 404


def test_nothing_is_deleted_without_the_tick(player: Person) -> None:
    answer = player.client.post("/your-data/delete", {})
    assert answer.status_code == 422
    assert "Tick the box" in answer.content.decode()
    assert player.client.get("/your-data/delete").status_code == 405
    assert len(whole(player)["sessions"]) == 3


def test_nothing_is_deleted_while_a_turn_is_played(player: Person) -> None:
    turn = player.send(player.open())
    answer = delete(player)
    assert answer.status_code == 409
    assert "still being played" in answer.content.decode()
    assert len(whole(player)["sessions"]) == 4
    play(turn)
    assert delete(player).status_code == 200


def test_nothing_is_deleted_while_recordings_cannot_be_reached(player: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise StoreUnavailable("down")

    player.sign_up()
    monkeypatch.setattr("arena.store.EpisodeStore.remove_words", refuse)
    assert delete(player).status_code == 503
    assert Account.objects.exists()
    assert len(whole(player)["sessions"]) == 3


def test_a_copy_is_not_asked_for_without_end(player: Person, settings: Any) -> None:
    settings.RATE_LIMITS = {"own_data": {"address": ((2, 60),)}}
    asked = [player.client.get("/your-data/download").status_code for _ in range(3)]
    assert asked == [200, 200, 429]


def test_another_app_adds_what_it_keeps(player: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    gone: list[tuple[Owner, str]] = []
    notes = Part("notes", lambda owner: iter([{"of": owner.visitor}]), lambda *how: gone.append(how))
    room = ModuleType("rooms_of_another_app")
    vars(room)["PARTS"] = (notes,)
    monkeypatch.setitem(sys.modules, room.__name__, room)
    monkeypatch.setattr(own_data, "_modules", [*own_data._modules])
    own_data.register(room.__name__)
    visitor = player.visitor_id
    assert whole(player)["notes"] == [{"of": visitor}]
    delete(player)
    [(owner, pseudonym)] = gone
    assert owner == Owner(str(visitor))
    assert {pseudonym} == set(Vote.objects.values_list("user_id", flat=True))
    with pytest.raises(ValueError, match=room.__name__):
        own_data.register(room.__name__)
    vars(room)["PARTS"] = (notes, notes)
    with pytest.raises(ValueError, match="notes twice"):
        own_data.parts()


def test_keys_between_tables_hold_after_a_deletion(player: Person) -> None:
    delete(player)
    connection.check_constraints()
    for battle in Battle.objects.select_related("session"):
        assert battle.turns.filter(session=battle.session).count() == battle.turns.count()
