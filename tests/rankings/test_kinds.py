"""Rankings of several kinds of arena: each has boards of its own, and no vote of one changes a figure of another."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.http import HttpResponse
from django.test import Client, override_settings
from django.urls import path

from arena import kinds
from arena.kinds import Json, Kind, Place
from arena.models import Attempt, Battle, Contestant, ContestantQuerySet, PairChance, Vote
from arena.pairing import written_chances
from policies.models import Policy
from rankings.models import ClassicElo, Finding, ModelStatsTotal, Snapshot
from rankings.publication import aggregation, checking
from rankings.publication.published import current
from rankings.publication.retention import thin_out
from rankings.votes import ledger
from simulation import catalogue
from tests.factories import PolicyFactory, SessionFactory, VoteFactory
from tests.rankings.ballots import ballots, cast
from vlaarena import urls as site

pytestmark = pytest.mark.django_db

ROBOTS = ballots(("a", "b", "left_better", 9, "v1"), ("b", "c", "tie", 7, "v2"), ("c", "a", "right_better", 6, "v3"))
WORDS = ballots(("p", "q", "left_better", 8, "v1"), ("q", "r", "right_better", 6, "v2"), ("r", "p", "tie", 5, "v4"))
READ = ("leaderboard", "leaderboard/stats", "leaderboard/report")
PAGES = ("", "/physics", "/pairs", "/compare", "/checks", "/method")


class Words(Kind):
    """Answers in letters: two languages, of which r speaks one."""

    id = "words"
    names = Place("language", "topic")
    inconclusive = ("interrupted",)
    template = "robots/battle.html"
    address = "words"

    def places(self) -> Mapping[str, Sequence[str]]:
        return {"english": ["letters", "poems"], "german": ["letters"]}

    def eligible(self, place: Place) -> ContestantQuerySet[Any]:
        everyone = self.contestants().contestants()
        return everyone.exclude(pk="r") if place.setting == "german" else everyone

    def task_of(self, instruction: str, scene: str) -> str:
        return "greet" if instruction == "say hello" else ""

    def tasks(self) -> Mapping[str, str]:
        return {"greet": "Greet"}

    def play(self, episode_id: str) -> None: ...

    chunk_s = 0.1
    longest = 10

    def stand_in(self, known: bytes, known_number: int, number: int) -> bytes:
        return known

    def frames(self, first: int, left: Sequence[bytes], right: Sequence[bytes]) -> Json:
        return {}

    def recording(self, attempt: Attempt, document: Json, common_length: int, exact: bool) -> Json:
        return {}


@pytest.fixture(autouse=True)
def _robots_alone() -> Iterator[None]:
    """But for the kind that a test asks for; the tests have more."""
    others = [kind for kind in kinds.every() if kind is not kinds.default()]
    for kind in others:
        kinds._known.pop(kind.id)
    yield
    for kind in others:
        kinds.register(kind)


urlpatterns = [*site.urlpatterns, path(Words.address, lambda request: HttpResponse(), name=Words.address)]
"""The site's addresses were made before this kind was there."""


@pytest.fixture
def words() -> Iterator[Words]:
    kind = Words()
    kinds.register(kind)
    try:
        with override_settings(ROOT_URLCONF=__name__):
            yield kind
    finally:
        kinds._known.pop(kind.id)


@pytest.fixture
def writers(words: Words) -> list[Contestant]:
    return [Contestant.objects.create(id=name, name=name.upper(), kind="words", family="bag") for name in "pqr"]


def cast_words(votes: Any = WORDS, start: int = 0) -> list[Vote]:
    return cast(votes, SessionFactory(kind="words", setting="english", scene="letters"), start)


@pytest.fixture
def both(writers: list[Contestant]) -> None:
    cast(ROBOTS)
    cast_words()
    aggregation.aggregate()


def of_kind(kind: str) -> dict[str, Any]:
    """All figures that were published of a kind."""
    snapshot = Snapshot.objects.filter(kind=kind).select_related("report").latest("made_at")
    content = {**snapshot.report.content}
    content["trend"] = [point["ratings"] for point in content["trend"]]
    return {
        "boards": snapshot.boards,
        "report": content,
        "counts": gzip.decompress(bytes(snapshot.counts)).decode(),
        "input": snapshot.input_hash,
        "elo": list(
            ClassicElo.objects.filter(kind=kind).order_by("board").values_list("board", "ratings", "last_vote_id")
        ),
        "totals": list(ModelStatsTotal.objects.filter(model__kind=kind).order_by("pk").values()),
        "chances": sorted(PairChance.objects.filter(one__kind=kind).values_list("pool", "one", "other", "chance")),
    }


def names_in(found: Any) -> set[str]:
    """The contestants whose names stand anywhere in it."""
    if isinstance(found, Mapping):
        return {name for each in found.items() for part in each for name in names_in(part)}
    if isinstance(found, list | tuple):
        return {name for each in found for name in names_in(each)}
    return {found} & set("abcpqr") if isinstance(found, str) else set()


def get(client: Client, call: str, **parameters: str) -> Any:
    answer = client.get(f"/api/{call}", parameters)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_one_run_publishes_each_kind_by_itself(both: None) -> None:
    assert sorted(Snapshot.objects.values_list("kind", flat=True)) == ["robots", "words"]
    robots, words = of_kind("robots"), of_kind("words")
    assert set(robots["boards"]) == {"global", "robot=widowx", "scene=table", "robot=widowx,scene=table"}
    assert set(words["boards"]) == {"global", "robot=english", "scene=letters", "robot=english,scene=letters"}
    assert set(robots["boards"]["global"]["models"]) == set("abc")
    assert words["boards"]["global"]["components"] == [["p", "q", "r"]]
    assert (robots["boards"]["global"]["votes"], words["boards"]["global"]["votes"]) == (22, 19)


def test_no_contestant_stands_in_anything_that_was_published_of_another_kind(both: None) -> None:
    for kind, own in (("robots", "abc"), ("words", "pqr")):
        found = of_kind(kind)
        rows = [line.split(",") for line in found.pop("counts").splitlines()[1:]]
        assert {name for row in rows for name in row[3:5]} == set(own)
        assert names_in(json.loads(json.dumps(found, default=str))) == set(own)


def test_a_vote_of_one_kind_changes_no_figure_of_the_other(both: None) -> None:
    robots, words = of_kind("robots"), of_kind("words")
    cast_words(ballots(("q", "p", "left_better", 9, "v1"), ("p", "q", "tie", 3, "v9")), start=1000)
    aggregation.aggregate()
    assert of_kind("robots") == robots
    assert of_kind("words") != words
    words = of_kind("words")
    cast(ballots(("b", "a", "left_better", 9, "v1"), ("c", "q", "tie", 0)), start=2000)
    aggregation.aggregate()
    assert of_kind("words") == words
    assert of_kind("robots") != robots


def test_kinds_beside_each_other_publish_what_each_would_alone(writers: list[Contestant]) -> None:
    cast(ROBOTS)
    aggregation.aggregate()
    alone = of_kind("robots")
    cast_words()
    aggregation.aggregate()
    assert of_kind("robots") == alone
    assert Snapshot.objects.filter(kind="robots").count() == 1  # nothing new there


def test_calibration_counts_in_its_own_kind(writers: list[Contestant]) -> None:
    """A voter's trust among the words does not follow from what the voter said of robots."""
    cast_words(ballots(("p", "q", "left_better", 5, "careful"), ("q", "r", "tie", 5, "careful")))
    Vote.objects.update(network="n" * 24)
    aggregation.aggregate()
    before = of_kind("words")
    pair = {"battle__left_model": PolicyFactory(id="a"), "battle__right_model": PolicyFactory(id="b")}
    for _ in range(4):
        vote = VoteFactory(user_id="careful", network="n" * 24, **pair)
        vote.battle.turns.update(instruction="pick up the red cube")
        Attempt.objects.filter(turn__battle=vote.battle, side="left").update(success=True, progress=1.0)
        Attempt.objects.filter(turn__battle=vote.battle, side="right").update(progress=0.1)
    aggregation.aggregate()
    assert of_kind("words") == before


def test_counts_and_boards_of_all_kinds_are_checked_and_rebuilt(both: None) -> None:
    assert checking.differences() == []
    before = of_kind("robots"), of_kind("words")
    aggregation.rebuild()
    found = of_kind("robots"), of_kind("words")
    for rebuilt, published in zip(found, before, strict=True):
        assert {**rebuilt, "totals": None} == {**published, "totals": None}
    ModelStatsTotal.objects.filter(model="q").update(elo_score=1)
    assert {(each.model_id, each.field) for each in checking.differences()} == {("q", "elo_score")}


def test_a_vote_on_contestants_of_another_kind_is_faulty(writers: list[Contestant]) -> None:
    cast_words(ballots(("p", "q", "tie", 1)))
    cast(ballots(("a", "b", "tie", 1)))
    stray = cast_words(ballots(("a", "p", "tie", 1)))
    report = aggregation.aggregate()
    assert (report.votes_processed, report.votes_failed) == (2, 1)
    assert "of the kind 'robots'" in str(Vote.objects.get(pk=stray[0].pk).error_message)


def test_findings_of_one_kind_flag_nobody_in_the_other(both: None) -> None:
    Finding.objects.create(kind="outlier", arena="words", subject="v1", summary="always for p")
    aggregation.aggregate()
    assert (of_kind("words")["report"]["voters"]["flagged"], of_kind("robots")["report"]["voters"]["flagged"]) == (1, 0)


def test_who_is_excluded_counts_in_no_kind(both: None) -> None:
    ledger.exclude_voter("v1")
    aggregation.aggregate()
    votes = [of_kind(kind)["boards"]["global"]["votes"] for kind in ("robots", "words")]
    assert votes == [13, 11]


def test_the_last_publication_of_a_day_is_kept_of_each_kind(both: None, settings: Any) -> None:
    settings.SNAPSHOT_DAYS = 1
    for snapshot in Snapshot.objects.all():
        for hour in (1, 2):
            moment = f"2026-01-05T0{hour}:00:00+00:00"
            Snapshot.objects.create(kind=snapshot.kind, made_at=moment, input_hash="0" * 64, counts=b"")
    assert thin_out() == 2
    assert Snapshot.objects.filter(made_at__hour=2, made_at__day=5).count() == 2


def test_calls_answer_of_the_kind_that_is_named_and_of_the_default_one(both: None, client: Client) -> None:
    for call in READ:
        assert get(client, call) == get(client, call, kind="robots")
    assert names_in(get(client, "leaderboard")) == set("abc")
    board = get(client, "leaderboard", kind="words")
    assert {row["model_id"] for row in board["rankings"]} == set("pqr")
    assert (board["metadata"]["kind"], board["metadata"]["board"]) == ("words", "global")
    assert board["metadata"]["robots"] == ["english", "german"]
    assert names_in(get(client, "leaderboard/report", kind="words")) == set("pqr")
    figures = get(client, "leaderboard/stats", kind="words")
    assert (figures["total_votes"], figures["total_models"], figures["total_battles"]) == (19, 3, 19)
    assert figures["votes_by_robot"] == {"english": 19, "german": 0}
    found = get(client, "leaderboard/compare", kind="words", a="p", b="q", language="english")
    assert found["record"]["wins"] == 8


def test_places_go_by_the_kinds_own_names(both: None, client: Client) -> None:
    here = get(client, "leaderboard", kind="words", language="english", topic="letters")["metadata"]
    assert (here["board"], here["total_votes"]) == ("english/letters", 19)
    assert get(client, "leaderboard", kind="words", language="german")["metadata"]["total_votes"] == 0
    unknown = client.get("/api/leaderboard", {"kind": "words", "language": "widowx"})
    assert (unknown.status_code, unknown.json()["code"]) == (422, "unknown_language")
    assert unknown.json()["known"] == ["english", "german"]
    unknown = client.get("/api/leaderboard", {"robot_id": "english"})
    assert (unknown.status_code, unknown.json()["code"]) == (422, "unknown_robot")


def test_the_page_offers_the_scenes_of_the_chosen_setting_and_the_tasks_of_the_kind(both: None, client: Client) -> None:
    def offered(**place: str) -> list[str]:
        text = client.get("/leaderboard", {"kind": "words", **place}).content.decode()
        return re.findall(r'<a href="\?[^"]*topic=(\w+)', text)

    assert offered() == offered(language="english") == ["letters", "poems"]
    assert offered(language="german") == []  # there is only one
    text = client.get("/leaderboard", {"kind": "words", "language": "german"}).content.decode()
    assert '<a href="?kind=words&amp;language=german&amp;task=greet" >Greet</a>' in text


@pytest.mark.parametrize("call", [*READ, "leaderboard/compare", "worker/status"])
def test_an_unknown_kind_is_refused_with_the_known_ones(words: Words, client: Client, call: str) -> None:
    answer = client.get(f"/api/{call}", {"kind": "worms", "a": "p", "b": "q"})
    assert (answer.status_code, answer.json()["code"]) == (422, "unknown_kind")
    assert answer.json()["known"] == ["robots", "words"]


def test_contestants_of_two_kinds_are_not_compared(both: None, client: Client) -> None:
    answer = client.get("/api/leaderboard/compare", {"a": "a", "b": "p"})
    assert (answer.status_code, answer.json()["code"]) == (422, "unknown_model")
    assert answer.json()["known"] == ["a", "b", "c"]


def test_waiting_votes_are_told_of_all_kinds_and_of_one(writers: list[Contestant], client: Client) -> None:
    cast(ballots(("a", "b", "tie", 2)))
    cast_words(ballots(("p", "q", "tie", 3)))
    assert get(client, "worker/status")["pending_votes"] == 5
    assert get(client, "worker/status", kind="words")["pending_votes"] == 3


@pytest.mark.parametrize("page", PAGES)
def test_pages_show_the_kind_that_is_chosen_and_lead_to_it(both: None, client: Client, page: str) -> None:
    robots = client.get(f"/leaderboard{page}").content.decode()
    words = client.get(f"/leaderboard{page}", {"kind": "words"}).content.decode()
    assert '<a href="?kind=words" >words</a>' in robots
    assert '<a href="?kind=words" aria-current="true">words</a>' in words
    assert 'href="/leaderboard/pairs?kind=words"' in words
    assert 'href="/leaderboard/pairs"' in robots
    assert f"/leaderboard/counts/{of_kind('words')['input']}.csv.gz" in words


def test_the_board_page_ranks_the_contestants_of_its_kind(both: None, client: Client) -> None:
    page = client.get("/leaderboard", {"kind": "words", "language": "english"})
    ranked = [entry.row["model_id"] for block in page.context["blocks"] for entry in block.rows]
    assert sorted(ranked) == ["p", "q", "r"]
    assert '<span class="policy-name">P</span>' in page.content.decode()  # no page tells of it
    complaint = client.get("/leaderboard", {"kind": "worms"})
    assert "Known: robots, words." in complaint.content.decode()


def test_with_one_kind_no_page_speaks_of_kinds(client: Client) -> None:
    cast(ROBOTS)
    aggregation.aggregate()
    for page in PAGES:
        assert "kind=" not in client.get(f"/leaderboard{page}").content.decode()


def test_chances_are_written_by_pool_and_only_of_those_who_may_meet_there(both: None) -> None:
    pools: dict[str, set[str]] = {}
    for pool, one, other in PairChance.objects.values_list("pool", "one", "other"):
        pools.setdefault(pool, set()).update((one, other))
    assert pools == {
        **{f"robots/{robot}/{scene}": set("abc") for robot, scene in catalogue.offered_worlds()},
        "words/english/letters": set("pqr"),
        "words/english/poems": set("pqr"),
        "words/german/letters": set("pq"),
    }
    for pool in pools:
        assert sum(written_chances(pool).values()) == pytest.approx(1.0)
    assert written_chances("words/english/letters") == written_chances("words/english/poems")


def test_a_contestants_weight_is_its_mean_exposure_over_the_pools_of_its_kind(both: None) -> None:
    weights = dict(Contestant.objects.values_list("id", "pairing_weight"))
    assert sum(weights[name] for name in "abc") == pytest.approx(3.0)
    assert sum(weights[name] for name in "pqr") == pytest.approx((3 + 3 + 2) / 3)
    assert weights["r"] < min(weights["p"], weights["q"])


def test_contestants_of_another_kind_are_never_drawn(both: None, client: Client) -> None:
    drawn: dict[str, set[str]] = {"robots": set(), "words": set()}
    for body in ({"kind": "words"}, {"kind": "words", "language": "german"}, {"kind": "robots"}, {}) * 4:
        answer = client.post("/api/sessions/init", body, content_type="application/json")
        assert answer.status_code == 201, answer.content
        battle = Battle.objects.select_related("session").get(battle_id=answer.json()["battle_id"])
        drawn[battle.session.kind] |= {battle.left_model_id, battle.right_model_id}
        if battle.session.setting == "german":
            assert {battle.left_model_id, battle.right_model_id} == {"p", "q"}
    assert drawn["robots"] <= set("abc")
    assert drawn["words"] <= set("pqr")


def test_the_attempts_that_say_nothing_are_those_that_the_kind_names(writers: list[Contestant]) -> None:
    session = SessionFactory(kind="words", setting="english", scene="letters")
    for reason in ("said", "interrupted"):
        pair = {"battle__left_model": writers[0], "battle__right_model": writers[1]}
        turns = VoteFactory(battle__session=session, **pair).battle.turns
        turns.update(instruction="say hello")
        Attempt.objects.filter(turn__in=turns.all()).update(termination_reason=reason)
    aggregation.aggregate()
    report = of_kind("words")["report"]
    assert {row["model_id"]: row["episodes"] for row in report["physics"]["greet"]} == {"p": 1, "q": 1}
    assert of_kind("robots")["report"]["physics"] == {"all": []}


def test_votes_are_exported_of_one_kind(both: None, tmp_path: Path) -> None:
    for options, own in (((), "abc"), (("--kind", "words"), "pqr")):
        path = tmp_path / f"{own}.csv"
        call_command("export_votes", str(path), *options, stdout=StringIO())
        rows = [line.split(",") for line in path.read_text().splitlines()]
        left, right = rows[0].index("left"), rows[0].index("right")
        assert {row[side] for row in rows[1:] for side in (left, right)} == set(own)


def test_a_kind_without_contestants_publishes_nothing_and_its_boards_are_empty(words: Words, client: Client) -> None:
    cast(ROBOTS)
    aggregation.aggregate()
    assert set(Snapshot.objects.values_list("kind", flat=True)) == {"robots"}
    assert get(client, "leaderboard", kind="words")["rankings"] == []
    assert current(words).published.snapshot is None
    assert Policy.objects.count() == 3
