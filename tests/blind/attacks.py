"""Naming policies by running the shipped networks, whose weights everybody may have, against what was fetched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

import numpy as np
from django.conf import settings

from robots.players import Player, open_folder
from simulation.chunking import ChunkPlayer
from simulation.contracts import ACTION_DIM, Floats, PolicyFailure, StartState
from simulation.environment import Environment
from simulation.variation import NO_VARIATION, Variation
from simulation.worlds import widowx
from simulation.worlds.widowx import JOINTS
from tests.blind.features import places
from tests.blind.peek import Peeked
from tests.replay_bin import rows_of_replay

WATCHED_STEPS = 5  # a second of motion, from the start that both sides share
SAME = 1e-5  # of an action [m, rad, 1]: other networks are at least a hundred times as far off


@cache
def shared_environment() -> Environment:
    return Environment()


@cache
def suspects() -> Mapping[str, Player]:
    """Every shipped policy, by id."""
    folders = sorted(path.parent for path in settings.POLICY_WEIGHTS.glob("*/policy.json"))
    return {folder.name: open_folder(folder, shared_environment()) for folder in folders}


def named_exactly(peeked: Peeked, side: str, seed: int = 0) -> str | None:
    """By the exact start and first action, where they can be fetched: whose network answers that very action."""
    replay = peeked.reply(f"episode/replay.bin:{side}")
    if replay is None or replay.status != 200:
        return None
    rows = rows_of_replay(replay.body)
    start, action = _start(rows[0]), _action(rows[1])
    off = {
        name: _first_action_off(player, start, action, peeked.instruction, seed) for name, player in suspects().items()
    }
    best = min(off, key=lambda name: off[name])
    return best if off[best] < SAME else None


def named_by_motion(rows: Floats, instruction: str, looks: tuple[Variation, ...] = (NO_VARIATION,)) -> str:
    """By re-simulating a second from the rounded start with every network: whose arm goes where this one went.

    `rows`: (steps + 1, nq) at 5 Hz. `looks`: what the outsider supposes that the policies saw; the best guess counts.
    """
    seen = rows[: WATCHED_STEPS + 1]
    off = {
        name: min(_motion_off(player, seen, instruction, variation) for variation in looks)
        for name, player in suspects().items()
    }
    return min(off, key=lambda name: off[name])


def _motion_off(player: Player, seen: Floats, instruction: str, variation: Variation) -> float:
    """How far the arm's joints are from those seen, over all watched steps [rad, root mean square]."""
    environment = shared_environment()
    environment.variation = variation
    environment.restore(_rough_start(seen[0]))
    try:
        player.reset(instruction, 0)
        paths = np.array([environment.state().qpos for _ in _play(environment, player, instruction, len(seen) - 1)])
    except PolicyFailure:
        return np.inf
    arm = places()[0]
    return float(np.sqrt(((paths[:, arm] - seen[1 : len(paths) + 1][:, arm]) ** 2).mean()))


def _play(environment: Environment, player: Player, instruction: str, steps: int) -> Iterator[Floats]:
    at, world = 0, environment.world
    chunks = ChunkPlayer(
        player.chunking,
        lambda: player.infer(environment.observe(instruction, at, player.cameras)),
        world.action_chunk,
        world.robot.LONGEST_CHUNK,
    )
    for at in range(steps):  # noqa: B007 - `infer` reads it
        action = chunks.next()
        environment.step(action)
        yield action


def _first_action_off(player: Player, start: StartState, action: Floats, instruction: str, seed: int) -> float:
    environment = shared_environment()
    environment.variation = NO_VARIATION
    environment.restore(start)
    try:
        player.reset(instruction, seed)
        own = next(_play(environment, player, instruction, 1))
    except PolicyFailure:
        return np.inf
    return float(np.abs(own - action).max())


def _start(row: Floats) -> StartState:
    """Of a row of replay.bin."""
    nq, nv = shared_environment().model.nq, shared_environment().model.nv
    memory = len(shared_environment().controller.numbers)
    qpos, qvel, warm, control, _, asleep = np.split(row[1:], np.cumsum([nq, nv, nv, memory, ACTION_DIM]))
    return StartState(float(row[0]), qpos, qvel, warm, control, asleep)


def _rough_start(qpos: Floats) -> StartState:
    """A standing start at rounded positions: quaternions made whole, joint targets where the joints are."""
    environment = shared_environment()
    whole = qpos.copy()
    for joint in range(environment.model.njnt):
        if environment.model.jnt_type[joint] == 0:  # free
            first = int(environment.model.jnt_qposadr[joint])
            whole[first + 3 : first + 7] /= np.linalg.norm(whole[first + 3 : first + 7])
    joints = whole[places()[0]]
    environment.controller.start_at(np.append(joints, widowx.FINGER_OPEN))
    nv = environment.model.nv
    control = environment.controller.memory.copy()
    assert np.allclose(control[JOINTS], joints)
    return StartState(0.0, whole, np.zeros(nv), np.zeros(nv), control)


def _action(row: Floats) -> Floats:
    """That led to a row of replay.bin."""
    trees = shared_environment().model.ntree
    return row[-trees - ACTION_DIM : -trees]
