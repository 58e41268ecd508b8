"""Battle names of one length are compared by their hashes; all others one by one, with the same answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankings.files import vote_file
from rankings.files.vote_file import VoteFileError, read_votes
from rankings.fit.ratings import Options, board_ratings

HEADER = "battle_id,voter_id,robot,left,right,vote\n"


def written(path: Path, battles: list[str]) -> Path:
    rows = (f"{name},v{number % 3},widowx,a,b,left_better\n" for number, name in enumerate(battles))
    path.write_text(HEADER + "".join(rows), encoding="utf-8")
    return path


LONG = [f"battle_{number:08x}" for number in range(50)]


def test_names_of_one_length_are_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vote_file, "_are_different", None)
    assert len(read_votes(written(tmp_path / "votes.csv", LONG)).outcomes) == 50


@pytest.mark.parametrize(
    "battles", [[*LONG, LONG[7]], [*LONG, " " + LONG[7]], [*LONG[:3], "short", "short"], ["ä" * 12, "ä" * 12]]
)
def test_a_name_that_comes_twice_is_refused(tmp_path: Path, battles: list[str]) -> None:
    with pytest.raises(VoteFileError, match="expected one vote per battle"):
        read_votes(written(tmp_path / "votes.csv", battles))


@pytest.mark.parametrize("battles", [[*LONG, "short"], ["ä" * 12, "ö" * 12], [f"{n} battle number" for n in range(9)]])
def test_other_different_names_are_taken(tmp_path: Path, battles: list[str]) -> None:
    assert len(read_votes(written(tmp_path / "votes.csv", battles)).outcomes) == len(battles)


def test_equal_hashes_are_no_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "votes.csv", LONG)
    usual = board_ratings(read_votes(path).counts(), Options())
    monkeypatch.setattr(vote_file, "MIX", vote_file.np.uint64(0))
    assert board_ratings(read_votes(path).counts(), Options()) == usual


def test_a_file_in_several_chunks_gives_the_ratings_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "votes.csv", [f"battle_{number:08x}" for number in range(5000)])
    usual = board_ratings(read_votes(path).counts(), Options())
    monkeypatch.setattr(vote_file, "BLOCK", 1 << 12)
    assert board_ratings(read_votes(path).counts(), Options()) == usual
    again = path.read_text() + "battle_00000007,v1,widowx,a,b,tie\n"
    path.write_text(again)
    with pytest.raises(VoteFileError, match="battle_00000007"):
        read_votes(path)
