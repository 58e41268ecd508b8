"""`manage.py compare`: matched pairs, taken up again, stopped when settled, and one report that needs nothing else."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from proportions.paired import PairedCounts
from robots import remote_policies
from robots.evaluation import Case, EvaluationRun
from robots.players import PlayerSource
from robots.processes import Processes
from robots.studies import study as conducting
from robots.studies.comparing import compared, counts_of
from robots.studies.folder import PAIRS, StudyFolder
from robots.studies.playing import FAILED, Outcome, Pair, play_pair
from robots.studies.study import PolicyKeepsFailing, Study, conduct, in_turn
from simulation.environment import Environment
from tests.remote.servers import PolicyServer, leaves, serving

pytestmark = pytest.mark.django_db
EXPERT, STILL = EvaluationRun(PlayerSource("expert")), EvaluationRun(PlayerSource("still"))
ALONE = Processes(1)
NAMES = {"a": "expert", "b": "still"}
PLAN = {"a": {"model_id": "expert", "revision": ""}, "b": {"model_id": "still", "revision": ""}, "seed": 0}


def outcome(success: bool, **more: Any) -> Outcome:
    return Outcome(
        **{"success": success, "progress": 0.5, "steps": 10, "ended": "x", "infer_ms": 5, "shown": "", **more}
    )


def pair(number: int, a: bool, b: bool, group: str = "pick", **more: Any) -> Pair:
    return Pair(f"{group}/{number}", group, "pick it", number, "", outcome(a, **more), outcome(b))


def replaced(pair: Pair) -> Pair:
    """Without what depends on the machine."""
    return replace(pair, a=replace(pair.a, infer_ms=0.0), b=replace(pair.b, infer_ms=0.0))


def compare(*arguments: str, folder: Path) -> dict[str, Any]:
    out = StringIO()
    call_command("compare", *arguments, "--workers", "1", "--folder", str(folder), "--json", stdout=out)
    told: dict[str, Any] = json.loads(out.getvalue())
    return told


def test_both_play_from_the_same_first_state_and_what_they_did_is_kept() -> None:
    played = play_pair(EXPERT, STILL, Case("pick", "pick up the red cube", seed=3))
    assert (played.name, played.a.success, played.b.success) == ("pick/3", True, False)
    nq = Environment().model.nq
    ours, theirs = played.a.rows(nq), played.b.rows(nq)
    np.testing.assert_array_equal(ours[0], theirs[0])
    assert len(ours) == 2 + (played.a.steps - 1) // 5
    assert Pair.from_json(json.loads(json.dumps(played.to_json()))) == played


def test_all_tasks_advance_together() -> None:
    cases = [Case(group, "", seed) for group in ("pick", "place") for seed in range(3)]
    assert [(case.group, case.seed) for case in in_turn(cases)] == [
        ("pick", 0), ("place", 0), ("pick", 1), ("place", 1), ("pick", 2), ("place", 2)
    ]  # fmt: skip


def test_the_command_stops_when_it_is_settled_and_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    usual = ("scripted-expert", "hold-still", "--task", "pick", "--replays", "0")
    first = compare(*usual, "--episodes", "2", folder=tmp_path)
    assert (first["pairs"], first["planned"], first["fixed_number"]) == (2, 2, False)
    assert first["sequential"]["verdict"] is None
    assert first["sequential"]["more_pairs"] == 5
    lines = (Path(first["folder"]) / PAIRS).read_text().splitlines()
    second = compare(*usual, "--episodes", "20", folder=tmp_path)
    assert (second["pairs"], second["planned"]) == (7, 20)
    assert second["sequential"]["verdict"] == "scripted-expert"
    assert second["outcomes"] == {"both": 0, "only_a": 7, "only_b": 0, "neither": 0}
    assert second["mcnemar_p"] == pytest.approx(2 / 2**7)
    assert (Path(second["folder"]) / PAIRS).read_text().splitlines()[:2] == lines
    assert compare(*usual, "--episodes", "20", folder=tmp_path)["pairs"] == 7


def test_the_report_is_one_file_with_replays_and_names_nothing_outside(tmp_path: Path) -> None:
    told = compare(
        "scripted-expert", "hold-still", "--task", "pick", "--episodes", "1", "--replays", "1", folder=tmp_path
    )
    page = Path(told["report"]).read_text("utf-8")
    assert page.count("data:image/webp;base64,") >= 10
    assert "About 6 more pairs settle it" in page
    assert "pick up the" in page or "lift the" in page
    assert not re.search(r"(?:src|href)=\"(?!data:)", page)


def test_two_processes_find_what_one_finds(tmp_path: Path) -> None:
    cases = [Case("pick", "pick up the red cube", seed) for seed in range(3)]
    study = Study(EXPERT, STILL, cases, until_settled=False)
    one = conduct(study, StudyFolder.of(tmp_path / "one", PLAN), ALONE)
    with Processes(2) as processes:
        two = conduct(study, StudyFolder.of(tmp_path / "two", PLAN), processes)
    assert [replaced(each) for each in one] == [replaced(each) for each in two]


def test_a_line_that_was_cut_off_is_played_again(tmp_path: Path) -> None:
    folder = StudyFolder.of(tmp_path, PLAN)
    folder.add(pair(0, True, False))
    with (folder.path / PAIRS).open("a") as file:
        file.write('{"name": "pick/1", "gro')
    assert [each.name for each in folder.pairs()] == ["pick/0"]


def test_another_revision_is_another_study(tmp_path: Path) -> None:
    other = {**PLAN, "b": {"model_id": "still", "revision": "2"}}
    assert StudyFolder.of(tmp_path, PLAN).path != StudyFolder.of(tmp_path, other).path


def test_a_server_that_fails_again_and_again_ends_the_study_and_its_pairs_can_be_played_anew(tmp_path: Path) -> None:
    with serving(PolicyServer()) as server:
        remote_policies.add_remote("far", server.url, {"infer_s": 1.0}, {})
        usual, server.answer = server.answer, leaves
        arguments = ("hold-still", "far", "--task", "pick", "--episodes", "6", "--replays", "0", "--all")
        with pytest.raises(CommandError, match="policy b failed in 5 episodes in a row"):
            compare(*arguments, folder=tmp_path)
        server.answer = usual
        told = compare(*arguments, "--retry-failed", folder=tmp_path)
    assert (told["pairs"], told["b"]["failures"], told["fixed_number"]) == (6, 0, True)


def test_failures_count_as_missed_goals_and_are_told() -> None:
    pairs = [pair(0, True, True), pair(1, False, True, ended=FAILED, error="infer raised ServerLate")]
    told = compared(pairs, NAMES, 0.0, 10, fixed=True)
    assert (told["a"]["failures"], told["a"]["successes"], told["b"]["successes"]) == (1, 1, 2)
    assert told["difference"]["estimate"] == -0.5


def test_tasks_are_told_apart() -> None:
    pairs = [pair(0, True, False), pair(1, False, True, "place"), pair(2, True, True, "place")]
    told = compared(pairs, NAMES, 0.0, 3, fixed=True)
    assert counts_of(pairs) == PairedCounts(1, 1, 1, 0)
    assert {name: task["outcomes"]["only_a"] for name, task in told["tasks"].items()} == {"pick": 1, "place": 0}
    assert told["tasks"]["place"]["b"]["successes"] == 2


def test_a_row_of_failures_of_one_side_alone_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        conducting, "play_pair", lambda a, b, case: pair(case.seed, False, False, ended=FAILED, error="x")
    )
    study = Study(EXPERT, STILL, [Case("pick", "", seed) for seed in range(9)])
    with pytest.raises(PolicyKeepsFailing, match="policy a failed in 5"):
        conduct(study, StudyFolder.of(tmp_path, PLAN), ALONE)
    assert len(StudyFolder.of(tmp_path, PLAN).pairs()) == 5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nobody", "hold-still"), "unknown policy 'nobody'; known: "),
        (("scripted-expert", "hold-still", "--task", "juggle"), "unknown task 'juggle'; known: "),
        (("scripted-expert", "hold-still", "--margin", "1"), "--margin: expected 0 or more and less than 1, got 1"),
        (("scripted-expert", "hold-still", "--suite", "moon"), "unknown suite"),
    ],
)
def test_what_is_not_known_is_refused(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=re.escape(said)):
        compare(*arguments, folder=tmp_path)
