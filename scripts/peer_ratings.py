"""Rates a file of votes with another package: `peer_ratings.py PACKAGE VOTES` prints {policy: Elo points} as JSON.

It runs in the virtual environment that `bench_peers.py` makes, and imports nothing of the arena. In all packages, tie
and both_bad count as half a win for each side.
"""

from __future__ import annotations

import ast
import json
import math
import sys
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

WINNER = {"left_better": "model_a", "right_better": "model_b", "tie": "tie", "both_bad": "tie"}


def battles(path: Path) -> Any:
    """The votes in the format of arena-rank and FastChat."""
    import pandas

    votes = pandas.read_csv(path, usecols=["left", "right", "vote"])
    return pandas.DataFrame({"model_a": votes.left, "model_b": votes.right, "winner": votes.vote.map(WINNER)})


def arena_rank(path: Path) -> dict[str, float]:
    """Ratings with sandwich intervals, the package's default."""
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    data = PairDataset.from_pandas(battles(path))
    found = BradleyTerry(len(data.competitors)).compute_ratings_and_cis(data, significance_level=0.05)
    return dict(zip(found["competitors"], map(float, found["ratings"]), strict=True))


def evalica(path: Path) -> dict[str, float]:
    """Ratings only: its intervals need a bootstrap of many more fits."""
    import evalica as package

    votes, won = battles(path), package.Winner
    outcome = votes.winner.map({"model_a": won.X, "model_b": won.Y, "tie": won.Draw}).tolist()
    found = package.bradley_terry(
        votes.model_a.tolist(), votes.model_b.tolist(), outcome, tolerance=1e-10, limit=100_000
    )
    return {name: 400.0 * math.log10(score) for name, score in found.scores.items()}


def fastchat(path: Path) -> dict[str, float]:
    """Ratings only."""
    rated = _of_fastchat()["compute_elo_mle_with_tie"](battles(path))
    return {name: float(rating) for name, rating in rated.items()}


ROUNDS = 10


def fastchat_with_intervals(path: Path) -> dict[str, float]:
    """Ratings with its report's bootstrap intervals, in ROUNDS rounds instead of 100."""
    names, votes = _of_fastchat(), battles(path)
    rate = names["compute_elo_mle_with_tie"]
    names["get_bootstrap_result"](votes, rate, num_round=ROUNDS)
    return {name: float(rating) for name, rating in rate(votes).items()}


def _of_fastchat() -> dict[str, Any]:
    """FastChat's functions by name, extracted from its source.

    Its module cannot be imported without torch and plotting packages, which the rating does not use.
    """
    import numpy
    import pandas

    source = Path(str(distribution("fschat").locate_file("fastchat/serve/monitor/elo_analysis.py")))
    tree = ast.parse(source.read_text(encoding="utf-8"))
    names: dict[str, Any] = {"np": numpy, "pd": pandas, "math": math, "tqdm": lambda rounds, desc: rounds}
    functions = ("compute_elo_mle_with_tie", "get_bootstrap_result")
    wanted: list[ast.stmt] = [
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in functions
    ]
    exec(compile(ast.Module(wanted, []), str(source), "exec"), names)  # noqa: S102
    return names


PACKAGES = {
    "arena-rank": arena_rank,
    "evalica": evalica,
    "fschat": fastchat,
    "fschat-intervals": fastchat_with_intervals,
}

if __name__ == "__main__":
    print(json.dumps(PACKAGES[sys.argv[1]](Path(sys.argv[2]))))
