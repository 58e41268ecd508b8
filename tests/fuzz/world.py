"""An arena in the middle of everything: generated calls meet battles, turns and episodes in every state."""

from __future__ import annotations

import zlib
from typing import Any

from django.core import signing
from django.test import Client
from schemathesis import Case, GenerationMode
from schemathesis.core.parameters import ParameterLocation

from arena.models import Attempt, Battle, BattleStatus, Session, Turn, Vote
from arena.store import get_store
from arena.visitors.cookies import COOKIE, SALT
from policies.models import Policy
from rankings.publication import aggregation
from simulation.view_format import ROWS_PER_CHUNK, VIEW_HZ
from tests.factories import BattleFactory, PolicyFactory, ReferenceFactory, SessionFactory, TurnFactory, VoteFactory
from tests.fakes import ENGINE, NQ, NV, SCENE_HASH
from tests.people import logged_in, moderator, operator
from vlaarena.roles import MODERATOR, OPERATOR

STEPS = 50
TOKEN = "t" * 32
"""What Django's forms and calls of the staff have to repeat from a cookie."""
OFTEN = 8
"""Of so many calls all but one name something that exists."""


class World:
    """One visitor's arena, and the cookies with which to act in it as this visitor, or to look at it in a role."""

    def __init__(self) -> None:
        contestants = [PolicyFactory(id="alpha"), PolicyFactory(id="beta")]
        ReferenceFactory()
        session = SessionFactory()
        pair = {"session": session, "left_model": contestants[0], "right_model": contestants[1]}
        VoteFactory(battle=BattleFactory(**pair, status=BattleStatus.VOTED))
        TurnFactory(battle=BattleFactory(**pair, status=BattleStatus.ABANDONED, event_seq=1), completed=True)
        TurnFactory(battle=BattleFactory(**pair, status=BattleStatus.VOTED, event_seq=1), completed=True)
        aggregation.aggregate()
        VoteFactory(battle=BattleFactory(**pair, status=BattleStatus.VOTED))
        votable, running, new, foreign = (
            BattleFactory(**pair, event_seq=1),  # each turn was told
            BattleFactory(**pair, event_seq=1),
            BattleFactory(**pair),
            BattleFactory(session=SessionFactory()),
        )
        TurnFactory(battle=votable, completed=True)
        TurnFactory(battle=running)
        TurnFactory(battle=foreign, completed=True)
        for rollout in Attempt.objects.filter(turn__settled_at__isnull=False):
            get_store().save(_episode(rollout))
        self.visitor = str(session.user_id)
        self.known = {
            "session_id": _ids(Session, "session_id"),
            "battle_id": _ids(Battle, "battle_id"),
            "turn_id": _ids(Turn, "turn_id"),
            "episode_id": _ids(Attempt, "episode_id"),
            "model_id": _ids(Policy, "id"),
            "user_id": [self.visitor, "me"],
            "robot_id": ["widowx"],
            "scene_id": ["table"],
            "vote_id": _ids(Vote, "vote_id"),
        }
        assert new.battle_id in self.known["battle_id"]
        self.cookies = {COOKIE: signing.dumps(self.visitor, salt=SALT, compress=False)}
        self.staff_cookies = {
            MODERATOR: cookies_of(logged_in(moderator())),
            OPERATOR: cookies_of(logged_in(operator())),
        }

    def place(self, case: Case) -> None:
        """Put ids of what exists into most of the calls that name something that does not; as the case decides."""
        draw = zlib.crc32(repr((case.path_parameters, case.body)).encode())
        if draw % OFTEN == 0:
            return
        if _drawn_well(case, ParameterLocation.PATH):
            self._replace(case.path_parameters, draw)
        if _drawn_well(case, ParameterLocation.BODY) and isinstance(case.body, dict):
            self._replace(case.body, draw)

    def _replace(self, named: Any, draw: int) -> None:
        for name in list(named):
            if name in self.known and named[name] is not None:
                named[name] = self.known[name][draw // OFTEN % len(self.known[name])]


def cookies_of(client: Client) -> dict[str, str]:
    """With the token that each form has to repeat."""
    return {"csrftoken": TOKEN} | {name: morsel.value for name, morsel in client.cookies.items()}


def _drawn_well(case: Case, where: ParameterLocation) -> bool:
    component = case.meta.components.get(where) if case.meta else None
    return component is not None and component.mode == GenerationMode.POSITIVE


def _ids(model: Any, name: str) -> list[str]:
    return sorted(model.objects.values_list(name, flat=True))


def _episode(rollout: Attempt) -> dict[str, Any]:
    """The document of a settled rollout, as short as a document may be."""
    return {
        "_id": rollout.episode_id,
        "attempt": rollout.tries,
        "battle_id": rollout.turn.battle_id,
        "turn_id": rollout.turn_id,
        "side": rollout.side,
        "robot_id": "widowx",
        "scene_id": "table",
        "engine_version": ENGINE,
        "scene_hash": SCENE_HASH,
        "render_profile": "nothing rendered",
        "start_hash": "0" * 64,
        "view": bytes(2 * NQ * (ROWS_PER_CHUNK * STEPS + 1)),
        "view_hz": VIEW_HZ,
        "view_scale": [0.001] * NQ,
        "actions": [[0.0] * 7] * STEPS,
        "states": [{"time": step / 5, "qpos": [0.0] * NQ, "qvel": [0.0] * NV} for step in range(STEPS + 1)],
        "qacc_warmstart": [[0.0] * NV] * (STEPS + 1),
        "control": [[0.0] * 14] * (STEPS + 1),
    }
