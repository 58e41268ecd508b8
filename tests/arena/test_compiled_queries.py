"""A query that is compiled once answers as the query set that it is made of, whoever asks."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import connection, connections, transaction
from django.db.transaction import TransactionManagementError

from arena import recordings
from arena.actions import announce, attempts, sessions, votes
from arena.models import Battle, Compiled, PairChance, battles
from arena.visitors import permissions
from tests.arena.conftest import Visitor, play_battle, side_of
from tests.factories import BattleFactory, PolicyFactory
from tests.fakes import FakeRuntime

pytestmark = pytest.mark.django_db


def named(name: str) -> Any:
    return Battle.objects.select_related("session", "left_model").filter(battle_id=name).order_by()


def columns(row: Any) -> dict[str, Any]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


def test_rows_are_those_of_the_query_set_with_their_relations(django_assert_num_queries: Any) -> None:
    ask = Compiled(named)
    for battle in (BattleFactory(), BattleFactory()):
        with django_assert_num_queries(1):
            [found] = ask(battle.battle_id)
            told = [columns(row) for row in (found, found.session, found.left_model)]
        [wanted] = named(battle.battle_id)
        assert told == [columns(row) for row in (wanted, wanted.session, wanted.left_model)]


def test_only_the_first_question_is_compiled() -> None:
    built: list[str] = []

    def rows(battle_id: str) -> Any:
        built.append(battle_id)
        return named(battle_id)

    ask = Compiled(rows)
    for _ in range(3):
        ask(BattleFactory().battle_id)
    assert len(built) == 1


def test_another_engine_is_asked_in_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process may ask two: the backup of an earlier release is read into SQLite, whatever the arena runs on."""
    built: list[str] = []

    def rows(battle_id: str) -> Any:
        built.append(connection.vendor)
        return named(battle_id)

    ask, battle = Compiled(rows), BattleFactory()
    for engine in (connection.vendor, "another"):
        monkeypatch.setattr(connections["default"], "vendor", engine)
        assert ask.first(battle.battle_id) == battle
    assert built == [built[0], "another"]


@pytest.mark.parametrize("text", ["", "nobody", "' OR 1=1 --", "%s", "text 0 of a compiled query", "ä" * 300])
def test_any_text_is_a_value_and_nothing_else(text: str) -> None:
    BattleFactory()
    assert Compiled(named)(text) == []
    assert Compiled(named).first(text) is None


def test_several_texts_stand_where_they_belong() -> None:
    one, other = PolicyFactory(id="one"), PolicyFactory(id="other")
    PairChance.objects.create(pool="table", one=one, other=other, chance=0.5)
    ask = Compiled(lambda pool, one: PairChance.objects.filter(pool=pool, one=one).values_list("other", "chance"))
    assert ask("table", "one") == [("other", 0.5)]
    assert ask("one", "table") == []


def test_columns_that_were_left_out_can_still_be_read() -> None:
    battle = BattleFactory()
    ask = Compiled(lambda battle_id: Battle.objects.only("battle_id").filter(battle_id=battle_id))
    found = ask(battle.battle_id)[0]
    assert "seed" in found.get_deferred_fields()
    assert found.seed == battle.seed


def test_a_lock_is_refused_outside_of_a_transaction(transactional_db: None) -> None:
    """By Django only while it compiles, and only on engines that lock rows."""
    battle = BattleFactory()
    ask = announce.to_be_locked(Battle.objects.select_related("session"))
    with transaction.atomic():
        assert ask(battle.battle_id) == [battle]
    with pytest.raises(TransactionManagementError, match="expected a transaction"):
        ask(battle.battle_id)


def test_threads_that_ask_at_once_get_their_own_answers(transactional_db: None) -> None:
    wanted = [BattleFactory().battle_id for _ in range(4)]
    ask = Compiled(named)
    found: dict[str, set[str]] = {name: set() for name in wanted}

    def asked(name: str) -> None:
        try:
            for _ in range(25):
                found[name] |= {battle.battle_id for battle in ask(name)}
        finally:
            connection.close()

    threads = [threading.Thread(target=asked, args=(name,)) for name in wanted]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {name: {name} for name in wanted}


def test_each_query_that_the_arena_compiles_finds_what_it_is_asked_for(visitor: Visitor, runtime: FakeRuntime) -> None:
    for battle_id in (play_battle(visitor), play_battle(visitor)):
        battle = Battle.objects.select_related("session").get(battle_id=battle_id)
        left = side_of(battle_id, "left")
        sides = list(left.turn.attempts.order_by("side"))
        with transaction.atomic():
            assert permissions._session(battle.session_id) == [battle.session]
            assert permissions._battle(battle_id) == [battle]
            assert announce.WITH_SESSION(battle_id) == [battle]
            assert votes._to_be_revealed("robots")(battle_id) == [battle]
            assert sessions._ongoing(battle.session_id) == [battle]
            assert recordings._recorded(left.episode_id) == [left]
            assert attempts._waiting(left.episode_id) == []
            assert attempts._sides_claimed("robots")(left.episode_id) == sides
            assert battles._sides_of("robots")(battle_id) == sides
