"""Plays one battle and votes for the side that moved its arm less, then prints who played.

python play_and_vote.py http://127.0.0.1:8000 "pick up the red cube"
"""

from __future__ import annotations

import os
import sys

import numpy as np

from vla_arena import Arena, ArenaError, Episode


def way(episode: Episode) -> float:
    """How far all positions moved, added up."""
    return float(np.abs(np.diff(episode.qpos, axis=0)).sum())


def main(url: str, instruction: str) -> int:
    with Arena(url, token=os.environ.get("ARENA_TOKEN", "")) as arena:
        try:
            battle = arena.open_battle(robot_id="widowx", scene_id="table")
            turn = battle.play(instruction)
            if turn["status"] != "completed":
                print(f"the turn failed: {turn['left']['error']}", file=sys.stderr)
                return 1
            left, right = battle.episodes(turn)
            choice = "left_better" if way(left) < way(right) else "right_better"
            cast = battle.vote(choice)
        except ArenaError as refused:
            print(f"refused with {refused.code}: {refused.detail}", file=sys.stderr)
            return 1
        for side in ("left", "right"):
            print(f"{side}: {cast['revealed_models'][side]['name']}")
        exact = arena.episode(left.episode_id).exact
        print(f"the left side played {len(exact.actions) if exact else 0} actions; vote: {choice}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
