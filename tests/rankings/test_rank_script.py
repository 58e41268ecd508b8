"""docs/rank.py: with numpy alone, anybody prints the published boards from the published files, digit by digit."""

from __future__ import annotations

import ast
import gzip
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client

from arena.models import Vote
from rankings.files.counts_file import write_counts
from rankings.fit.ratings import Options, board_ratings
from rankings.models import Snapshot
from rankings.publication import aggregation
from rankings.study.ballots import Honest, Stuffing, honest, stuffed, table_of, together
from rankings.study.voters import truth
from rankings.tally.table import GLOBAL, Board, VoteTable
from tests.factories import SessionFactory
from tests.rankings.ballots import ballots, cast

SCRIPT = Path(settings.BASE_DIR, "docs", "rank.py")


def printed(file: Path, board: Board) -> list[str]:
    """Lines without their spaces, sorted."""
    asked = [f"--{part}" for part in board.name.split(",") if part != GLOBAL]
    done = subprocess.run([sys.executable, str(SCRIPT), str(file), *asked], capture_output=True, text=True, check=True)
    return sorted(" ".join(line.split()) for line in done.stdout.splitlines())


def published(models: Mapping[str, Any]) -> list[str]:
    return sorted(
        f"{name} {row['rating']:.2f} ({row['low']:.2f} .. {row['high']:.2f}) {row['votes']} votes rank "
        + (f"{row['rank_low']}-{row['rank_high']}" if row["rank_low"] else "-")
        for name, row in models.items()
    )


def test_the_script_is_shorter_than_200_lines_and_imports_numpy_alone() -> None:
    source = SCRIPT.read_text()
    imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in imports for alias in node.names if isinstance(node, ast.Import)}
    names |= {str(node.module) for node in imports if isinstance(node, ast.ImportFrom)}
    assert len(source.splitlines()) < 200
    assert names - set(sys.stdlib_module_names) == {"numpy"}


@pytest.mark.django_db
def test_the_public_counts_file_and_exported_votes_give_every_board_of_the_publication(tmp_path: Path) -> None:
    some = ballots(
        ("a", "b", "left_better", 26, "anna"),
        ("b", "a", "tie", 5, "bert"),
        ("c", "a", "both_bad", 3),
        ("b", "c", "left_better", 9, "anna"),
        ("b", "c", "right_better", 4, "carl"),
    )
    cast(some)
    home = cast(some[:20], SessionFactory(setting="franka"), start=90_000)
    cast(ballots(("d", "e", "left_better", 7, "dora")), start=200_000)
    Vote.objects.filter(pk__in=[vote.pk for vote in home]).update(network="home")
    for vote in Vote.objects.filter(user_id="carl"):
        Vote.objects.filter(pk=vote.pk).update(network="home", voted_at=vote.voted_at + timedelta(days=1))
    aggregation.rebuild()
    snapshot = Snapshot.objects.all()[0]
    (tmp_path / "counts.csv.gz").write_bytes(
        Client().get(f"/leaderboard/counts/{snapshot.input_hash}.csv.gz").getvalue()
    )
    call_command("export_votes", str(tmp_path / "votes.csv"), stdout=StringIO())
    boards = (Board(), Board(setting="franka"), Board(setting="widowx"))
    for file in ("counts.csv.gz", "votes.csv"):
        for board in boards:
            assert printed(tmp_path / file, board) == published(snapshot.boards[board.name]["models"])


def crowd(seed: int) -> VoteTable:
    """Voters on shared networks, newcomers among them, on two robots, each vote with a task or none."""
    rng = np.random.default_rng(seed)
    theta = truth(7, rng)
    pushers = stuffed(theta, Stuffing(100, 5, 2, 3, knowing=True), rng)
    table = table_of(7, together(honest(theta, Honest(1500, 150, 7), rng), pushers))
    rows = len(table.outcomes)
    values = table.values | {"setting": ("franka", "widowx"), "task": ("", "stack")}
    drawn = {"setting": rng.random(rows) < 0.7, "task": rng.random(rows) < 0.3}
    codes = table.codes | {key: column.astype(np.int64) for key, column in drawn.items()}
    return replace(table, values=values, codes=codes, outcomes=np.eye(4, dtype=np.int64)[table.outcomes])


@pytest.mark.parametrize("seed", range(2))
def test_crowds_on_shared_networks_and_two_robots_have_the_same_digits(tmp_path: Path, seed: int) -> None:
    table, file = crowd(seed), tmp_path / "counts.csv.gz"
    file.write_bytes(write_counts(table).content)
    for board in (Board(), Board(setting="franka"), Board(task="stack")):
        assert printed(file, board) == published(board_ratings(table.counts(board), Options())["models"])


def test_a_board_without_votes_prints_nothing(tmp_path: Path) -> None:
    file = tmp_path / "counts.csv.gz"
    file.write_bytes(gzip.compress(gzip.decompress(write_counts(crowd(0)).content)))
    assert printed(file, Board(setting="atlas")) == []
