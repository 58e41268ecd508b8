"""After the faults: does what the arena holds agree with what it promised, and with itself?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.faults.crowd import Ledger
from tests.stack import Arena

LOOK = """
import json
from arena.models import Attempt, Turn, Vote
from simulation.store import get_store
store = get_store()
print("HELD" + json.dumps({
    "votes": list(Vote.objects.values_list("vote_id", "battle_id", "vote")),
    "turns": {turn.turn_id: [rollout.status for rollout in turn.attempts.all()]
              for turn in Turn.objects.prefetch_related("attempts")},
    "battles": dict(Turn.objects.values_list("turn_id", "battle_id")),
    "completed": list(Attempt.objects.filter(status="completed", expired_at=None).values_list("episode_id", flat=True)),
    "episodes": list(store.ids()),
}))
"""
DONE = {"completed", "failed", "cancelled"}


@dataclass
class Held:
    """What the arena holds. `turns`: id -> the two rollouts' states. `battles`: a turn's id -> its battle's."""

    votes: Sequence[tuple[str, str, str]] = ()  # vote id, battle id, choice
    turns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    completed: Sequence[str] = ()
    episodes: Sequence[str] = ()
    battles: Mapping[str, str] = field(default_factory=dict)


def look(arena: Arena) -> Held:
    said = arena.manage("shell", "--verbosity", "0", "-c", LOOK)
    found: dict[str, Any] = json.loads(said.partition("HELD")[2])
    votes = [(str(vote), str(battle), str(choice)) for vote, battle, choice in found["votes"]]
    return Held(votes, found["turns"], found["completed"], found["episodes"], found["battles"])


def complaints(ledger: Ledger, held: Held) -> list[str]:
    """Every promise that was broken, in words; empty when all is well."""
    return [
        *_votes(ledger, held),
        *(f"turn {turn} was promised and is not there" for turn in sorted(ledger.turns - set(held.turns))),
        *(f"turn {turn} is stuck: {states}" for turn, states in held.turns.items() if not set(states) <= DONE),
        *(f"turn {turn} did not end in time for its visitor" for turn in ledger.stuck),
        *(f"rollout {one} is completed without an episode" for one in set(held.completed) - set(held.episodes)),
        *(f"an answer did not say what is wrong: {answer}" for answer in ledger.untold),
        *ledger.sockets.wrong,
        *(
            f"the socket of {battle} told of {turn}, a turn of {held.battles[turn]}"
            for battle, turn in sorted(ledger.sockets.turns)
            if held.battles.get(turn, battle) != battle
        ),
    ]


def _votes(ledger: Ledger, held: Held) -> list[str]:
    found = {battle: (vote, choice) for vote, battle, choice in held.votes}
    twice = [battle for battle, count in Counter(battle for _, battle, _ in held.votes).items() if count > 1]
    wrong = [f"battle {battle} has more than one vote" for battle in twice]
    for battle, promised in ledger.votes.items():
        if battle not in found:
            wrong.append(f"vote {promised[0]} was acknowledged and is lost")
        elif found[battle] != promised:
            wrong.append(f"battle {battle}: acknowledged {promised}, stored {found[battle]}")
    for battle, (_, choice) in found.items():
        if battle not in ledger.votes and ledger.open_votes.get(battle) != choice:
            wrong.append(f"battle {battle} has a vote {choice!r} that nobody cast")
    return wrong


def self_checks(arena: Arena) -> list[str]:
    """The arena's own proofs: every episode bit for bit; counts and boards against the raw votes as they stand, after
    the next publication, and against a rebuild. A command that fails is a complaint.
    """
    try:
        verified = json.loads(arena.manage("verify", "--all", "--json"))
        arena.manage("rebuild_rankings", "--check")
        arena.manage(
            "shell", "--verbosity", "0", "-c", "from rankings.publication.aggregation import aggregate; aggregate()"
        )
        arena.manage("rebuild_rankings", "--check")
        rebuilt = json.loads(arena.manage("rebuild_rankings", "--json"))
    except AssertionError as failed:
        return [f"a command failed: {failed}"]
    wrong = []
    if verified["different"] or verified["checked"] != verified["identical"]:
        wrong.append(f"verify --all: {verified}")
    if rebuilt["rows_changed"] or rebuilt["votes_failed"]:
        wrong.append(f"a rebuild changes the boards: {rebuilt}")
    return wrong
