"""Ratings of votes that each stand for themselves, whoever cast them: quicker, and the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from rankings.files.vote_file import VoteFileError, read_votes
from rankings.fit.ratings import Options, board_ratings
from rankings.tally.counts import OUTCOMES
from tests.rankings.test_vote_files import rate

PLAIN = ("--cap", "0", "--cluster", "none")


def written(path: Path, policies: int, votes: int, **more: list[str]) -> Path:
    """A file of random votes of 40 voters, some of whom are unknown."""
    rng = np.random.default_rng(7)
    left = rng.integers(0, policies, votes)
    right = (left + rng.integers(1, policies, votes)) % policies
    columns = {
        "battle_id": [f"battle_{number:08x}" for number in range(votes)],
        "voter_id": [f"voter-{number}" if number else "" for number in rng.integers(0, 40, votes).tolist()],
        "robot": rng.choice(["widowx", "franka"], votes).tolist(),
        "left": [f"policy-{number:03}" for number in left.tolist()],
        "right": [f"policy-{number:03}" for number in right.tolist()],
        "vote": rng.choice(OUTCOMES, votes).tolist(),
        **more,
    }
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(pa.table(columns), path)
    else:
        path.write_text("\n".join(map(",".join, [[*columns], *zip(*columns.values(), strict=True)])) + "\n")
    return path


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("policies", [5, 300])
def test_the_ratings_are_those_of_a_table_that_knows_the_voters(tmp_path: Path, policies: int, ending: str) -> None:
    path = written(tmp_path / f"votes.{ending}", policies, 3000)
    table = read_votes(path)
    assert len(table.values["voter"]) == 40
    assert rate(path, *PLAIN) == board_ratings(table.counts(), Options(cap=0, cluster=False))


@pytest.mark.parametrize("policies", [5, 300])
def test_a_table_without_voters_counts_every_vote_of_every_pair(tmp_path: Path, policies: int) -> None:
    path = written(tmp_path / "votes.csv", policies, 3000)
    without, known = (read_votes(path, voters=voters).counts() for voters in (False, True))
    assert without.voters == 0
    assert without.names == known.names
    assert (without.per_pair() == known.per_pair()).all()


def test_voters_are_read_where_they_are_trusted_differently(tmp_path: Path) -> None:
    trust = ["0.25" if number % 3 else "1" for number in range(600)]
    path = written(tmp_path / "votes.csv", 4, 600, trust=trust)
    assert rate(path, *PLAIN) == board_ratings(read_votes(path).counts(), Options(cap=0, cluster=False))
    trusted = rate(written(tmp_path / "alike.csv", 4, 600), *PLAIN)
    assert rate(path, *PLAIN)["models"] != trusted["models"]


def test_who_voted_is_read_where_intervals_or_a_limit_need_it(tmp_path: Path) -> None:
    path = written(tmp_path / "votes.csv", 4, 600)
    table = read_votes(path).counts()
    assert rate(path, "--cap", "0") == board_ratings(table, Options(cap=0))
    assert rate(path, "--cluster", "none") == board_ratings(table, Options(cluster=False))


def test_a_file_without_the_column_of_voters_is_refused_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("battle_id,robot,left,right,vote\n1,w,a,b,tie\n")
    with pytest.raises(VoteFileError, match="no column voter_id"):
        read_votes(path, voters=False)
