"""One skill for each kind of goal. Each answers the next action (7,) from the present state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product, tee
from typing import NamedTuple

import numpy as np

from simulation.contracts import Floats
from simulation.expert.grasps import holds, is_square
from simulation.expert.hand import CLOSED, FUNNEL_SLOPE, Planner, command_tilt, command_yaw
from simulation.expert.obstacles import (
    Spot,
    clearance,
    discs_around,
    free_spot,
    has_room,
)
from simulation.goals import View
from simulation.goals.changes import AXES, Moved, Swapped, Turned
from simulation.goals.handling import Lifted, Placed, Stacked
from simulation.goals.places import MIDDLE, Between, In, NextTo, On, Tipped, Touching, Upright

BESIDE, BESIDE_SHARE = 0.012, 0.6  # gap to a neighbour [m], and its most in what the goal allows [-]
EXACT = 0.005  # [m]
RIM = 0.006  # of where a goal is reached, that is not aimed at, since the hand errs by EXACT [m]
BEYOND, ENOUGH = 0.03, 0.02
"""Of what is pushed, over what the goal asks for: where the hand takes it, and where it stops [m]. Who has forgotten
the start errs by about a centimetre.
"""
PUSH_STEP = 0.02  # of what is pushed, per control step [m]
TURN_BEYOND = np.deg2rad(12.0)
TURN_END, TURN_END_LONG = np.deg2rad(90.0), np.deg2rad(122.0)
"""Yaw of the hand at the end of a turn: over TURN_BEYOND further than any grasp of a square or a long thing."""
SHARED = 0.026  # of several things on one support, each from its middle [m]
TOWARDS = 0.03  # of the middle of the table, where the nearest side is looked for from [m]
SWAP_WITHIN = 0.4  # of what the goal allows
WALL = 0.004  # of what holds things [m]
TIP_BELOW = 0.016  # of the pads under the tool [m]
PAD_HALF = 0.0125  # of the closed hand along its yaw [m]
GRID = tuple(product(np.arange(0.19, 0.42, 0.03).tolist(), np.arange(-0.18, 0.19, 0.03).tolist()))
"""Places of the table to choose from [m, base frame]."""
FALLS_FREE = 0.002  # gap around what is knocked over [m]
KNOCK_YAW = 0.6  # of the hand that knocks something over, from square [rad]
MIDDLE_OF_TABLE = np.array([0.29, 0.0])  # [m, base frame]
TILT = np.deg2rad(72.0)  # of the hand that stands something up
TILT_LEFT = np.deg2rad(5.0)  # of a hand that has tilted all the way, or has not begun to
ROCKS_UP = np.deg2rad(27.0)  # what leans less than this stands up by itself


def lift(planner: Planner, goal: Lifted) -> Floats:
    return planner.pick(goal.thing, goal.height_m)


def place(planner: Planner, goal: Placed | On, shared: bool = False) -> Floats:
    """In the middle; beside it when something is there, or if the support is `shared` with another goal."""
    view, environment = planner.view, planner.environment
    middle = view.position(goal.support)
    top = float(middle[2]) + view.top(goal.support)
    there = [name for name in environment.world.objects if name != goal.thing and view.touching(name, goal.support)]
    if not there and not shared:
        return planner.put(goal.thing, middle, top, 0.02, on=goal.support)
    spots = [middle[:2] + np.array([off, 0.0]) for off in (-SHARED, SHARED)]
    taken = [view.position(name)[:2] for name in there] or spots[1:]
    spot = max(spots, key=lambda at: min(float(np.hypot(*(at - other))) for other in taken))
    return planner.put(goal.thing, spot, top, 0.006, on=goal.support, yaw=0.0)


def stack(planner: Planner, goal: Stacked) -> Floats:
    middle = planner.view.position(goal.base)
    top = float(middle[2]) + planner.view.top(goal.base)
    return planner.put(goal.thing, middle, top, 0.005, on=goal.base)


def put_in(planner: Planner, goal: In) -> Floats:
    """Let it fall from above the rim, where there is room for it on all sides."""
    view = planner.view
    box, middle = view.extent(goal.container), view.position(goal.container)
    if goal.judge(view).success and not planner.has(goal.thing):
        return planner.leave(float(view.position(goal.thing)[2]))
    room = box.radius - WALL - view.extent(goal.thing).radius * float(np.sqrt(2))
    return planner.drop(goal.thing, middle, float(middle[2] + box.high[2]) + 0.003, max(0.003, room - BESIDE))


def take_out(planner: Planner, goal: In) -> Floats:
    """Beside the container, at the nearest side with room."""
    found = spot_outside(planner, goal)
    return _set_at(planner, goal.thing, found) if found else planner.hold_still()


def spot_outside(planner: Planner, goal: In) -> Spot | None:
    """Where `take_out` sets the thing down: at the nearest side; out of the middle, towards MIDDLE_OF_TABLE."""
    view = planner.view
    thing, container = (view.position(name)[:2] for name in (goal.thing, goal.container))
    radius, inwards = view.extent(goal.container).radius, MIDDLE_OF_TABLE - container
    depth = max(0.0, 1.0 - float(np.hypot(*(thing - container))) / radius)
    here = thing + depth * TOWARDS * inwards / max(TOWARDS, float(np.hypot(*inwards)))
    corner = float(np.sqrt(2)) * radius + 2 * EXACT  # `In` goes by the box around the container
    apart = max(corner, radius + view.extent(goal.thing).radius + BESIDE)
    spots = sorted(_around(container, apart), key=lambda spot: _away(here, spot))
    return _free_spot(planner, goal.thing, spots)


def put_next_to(planner: Planner, goal: NextTo, moved: Moved | None = None) -> Floats:
    """At the nearest side of the other that has room. `moved`: how far the thing has to go as well."""
    if _is_left_alone(planner, goal, moved):
        return _set_here(planner, goal.thing)
    return _set_at(planner, goal.thing, spot_beside(planner, goal, moved))


def spot_beside(planner: Planner, goal: NextTo, moved: Moved | None = None) -> Spot:
    """Where `put_next_to` sets the thing down: at the nearest side of the other that has room, so that who has come
    half the way goes on to the same side.
    """
    here = planner.view.position(goal.thing)[:2]
    around = [*_spots_beside(planner, goal)]
    spots = sorted(_far_ones(planner, around, moved) or around, key=lambda spot: _away(here, spot))
    return _free_spot(planner, goal.thing, spots) or spots[0]


def _away(place: Floats, spot: Spot) -> float:
    """How far a spot is from a place (2,) [m]."""
    return float(np.hypot(*(place - spot[:2])))


def _is_left_alone(planner: Planner, goal: NextTo | Between, moved: Moved | None) -> bool:
    """Whether the thing stands where it is to be, and the hand, which is still around it, has let go."""
    if holds(planner.environment, goal.thing) or not (moved is None or moved.judge(planner.view).success):
        return False
    return goal.judge(planner.view).success and planner.is_around(planner.view.position(goal.thing))


def _spots_beside(planner: Planner, goal: NextTo) -> Iterator[Spot]:
    view = planner.view
    there = view.position(goal.other)[:2]
    gap = min(BESIDE, BESIDE_SHARE * goal.within_m)
    apart = view.extent(goal.thing).radius + view.extent(goal.other).radius + gap
    for angle in np.arange(48) * (np.pi / 24):
        x, y = there + apart * np.array([np.cos(angle), np.sin(angle)])
        yield float(x), float(y), float(angle)


def put_between(planner: Planner, goal: Between, moved: Moved | None = None) -> Floats:
    """In the middle of both, or at the place with room that is nearest to it; if there is none, the other goes further
    away first. `moved`: how far the thing has to go as well.
    """
    if _is_left_alone(planner, goal, moved):
        return _set_here(planner, goal.thing)
    name, spot = next_between(planner, goal, moved)
    return _set_at(planner, name, spot) if spot else planner.hold_still()


def next_between(planner: Planner, goal: Between, moved: Moved | None = None) -> tuple[str, Spot | None]:
    """Which of the things `put_between` moves next, and where it sets it down; None where there is no room at all."""
    one, other = (planner.view.position(name)[:2] for name in (goal.one, goal.other))
    if not holds(planner.environment, goal.other):
        spots = _far_ones(planner, _spots_between(one, other, goal.within_m), moved)
        found = _free_spot(planner, goal.thing, sorted(spots, key=lambda spot: _away((one + other) / 2, spot)))
        if found:
            return goal.thing, found
    return goal.other, _free_spot(planner, goal.other, _further_away(planner, goal))


def _far_ones(planner: Planner, spots: Iterable[Spot], moved: Moved | None) -> list[Spot]:
    """Those that are as far from the thing's start as it has to go."""
    if moved is None:
        return [*spots]
    start = planner.view.position(moved.thing)[:2] - moved.way_from(planner.view)
    return [spot for spot in spots if np.hypot(*(start - spot[:2])) > moved.by_m + EXACT]


def _spots_between(one: Floats, other: Floats, within: float) -> Iterator[Spot]:
    """All over what the goal allows, but for a rim; the hand along the line."""
    line = other - one
    length, yaw = max(1e-9, float(np.hypot(*line))), float(np.arctan2(line[1], line[0]))
    ahead = line / length
    far, wide = max(0.0, (0.5 - MIDDLE) * length - RIM), max(0.0, within - RIM)
    for along, aside in product(np.linspace(-far, far, 9), np.linspace(-wide, wide, 9)):
        x, y = (one + other) / 2 + along * ahead + aside * np.array([-ahead[1], ahead[0]])
        yield float(x), float(y), yaw


def _further_away(planner: Planner, goal: Between) -> Iterator[Spot]:
    """Spots of the other from which there is room between it and the first, the nearest ones to where it is."""
    environment, view = planner.environment, planner.view
    one, here = (view.position(name)[:2] for name in (goal.one, goal.other))
    width = sum(view.extent(name).radius for name in (goal.one, goal.thing, goal.thing, goal.other))
    around = discs_around(environment, goal.thing, goal.other)
    for x, y in sorted(GRID, key=lambda at: float(np.hypot(*(here - at)))):
        if np.hypot(*(one - (x, y))) < width + 0.02:
            continue
        covered = [*around, (x, y, view.extent(goal.other).radius)]
        ways = _spots_between(one, np.array([x, y]), goal.within_m)
        if any(has_room(environment, goal.thing, spot, covered) for spot in ways):
            yield from ((x, y, yaw) for yaw in (0.0, np.pi / 2, np.pi / 4, -np.pi / 4))


def push(planner: Planner, goal: Moved) -> Floats:
    """Along the table, in the hand."""
    view = planner.view
    way = goal.way_from(view)
    axis = np.array(AXES.get(goal.direction, AXES["back"]))
    ahead = float(way @ axis)
    if ahead > goal.by_m + ENOUGH and goal.judge(view).success:
        return planner.hold_still()
    return planner.slide(goal.thing, (goal.by_m + BEYOND - ahead) * axis - (way - ahead * axis), PUSH_STEP)


def pushed_to(view: View, goal: Moved) -> Floats:
    """Where `push` takes the thing (2,) [m, base frame]."""
    axis = np.array(AXES.get(goal.direction, AXES["back"]))
    start: Floats = view.position(goal.thing)[:2] - goal.way_from(view)
    return start + (goal.by_m + BEYOND) * axis


def turn(planner: Planner, goal: Turned) -> Floats:
    """In the hand, a little over the table, and always to the same yaw of the hand: whoever sees only how the hand
    stands can tell a turn that is done from one that has begun.
    """
    view, name = planner.view, goal.thing
    turned, wanted = goal.turn_from(view), np.deg2rad(goal.by_deg)
    sign = -1.0 if goal.way == "right" else 1.0
    end = TURN_END if is_square(planner.environment, name) else TURN_END_LONG
    further = abs(turned) if goal.way == "either" else sign * turned
    left = max(end - sign * command_yaw(planner.quaternion), wanted + TURN_BEYOND - further)
    if not planner.has(name) and goal.judge(view).success:
        left = 0.0
    low = view.position(name)[2] < view.rest_height(name) + 0.004
    if left < TURN_BEYOND / 2 and low:
        return planner.hold_still()
    if not planner.has(name):
        return planner.fetch(name)
    height = view.rest_height(name) + (0.008 if left > TURN_BEYOND / 2 else 0.001)
    rise = height - float(view.position(name)[2])
    return planner.go(planner.command + np.array([0.0, 0.0, rise]), sign * max(0.0, left), CLOSED)


def swap(planner: Planner, goal: Swapped) -> Floats:
    """One is set aside, unless a place is free; then each goes where the other was."""
    name, there, aside = next_trade(planner, goal)
    if aside:
        return _set_at(planner, name, (*there[:2].tolist(), aside))
    near = SWAP_WITHIN * goal.within_m
    return planner.put(name, there[:2], float(there[2]) - planner.view.rest_height(name), near)


class Trade(NamedTuple):
    thing: str
    place: Floats  # (3,) [m, base frame]
    yaw: float | None  # of the hand, where the thing is set aside [rad]


def next_trade(planner: Planner, goal: Swapped) -> Trade:
    """What of a swap is due: which thing goes where."""
    view = planner.view
    homes = dict(zip((goal.other, goal.one), goal.places(), strict=True))
    pairs = [(goal.one, goal.other), (goal.other, goal.one)]
    held = [pair for pair in pairs if holds(planner.environment, pair[0])]
    for name, other in (*held, *pairs):
        there = homes[name][:2]
        if np.hypot(*(view.position(name)[:2] - there)) < 0.6 * goal.within_m and (name, other) not in held:
            continue
        room = view.extent(name).radius + view.extent(other).radius + 0.02
        if np.hypot(*(view.position(other)[:2] - there)) > room:
            rest = float(homes[name][2]) - view.rest_height(other) + view.rest_height(name)
            return Trade(name, np.array([*there, rest]), None)
    name, other = (*held, *pairs)[0]
    taken = [(*homes[each][:2], view.extent(each).radius) for each in (name, other)]
    around = discs_around(planner.environment, name)
    here = view.position(name)[:2]
    spots = [spot for spot in _around(homes[other][:2], 0.07) if clearance([(*spot[:2], 0.045)], taken + around) > 0]
    nearest = sorted(spots, key=lambda spot: _away(here, spot))
    x, y, yaw = _free_spot(planner, name, nearest) or (*here.tolist(), 0.0)
    return Trade(name, np.array([x, y, view.rest_height(name)]), yaw)


def touch(planner: Planner, goal: Touching) -> Floats:
    if goal.judge(planner.view).success:
        return planner.hold_still()
    return planner.fetch(goal.thing)


FORWARD, SIDEWAYS = (0.0, np.pi / 6, -np.pi / 6), (np.pi / 2, -np.pi / 2)
"""Ways in which to knock something over, the preferred ones first: what lies forward is stood up more easily [rad]."""
BEARINGS = FORWARD + SIDEWAYS


def knock_over(planner: Planner, goal: Tipped) -> Floats:
    """Push its upper part with the closed hand, from the nearest side from which it has room to fall forward, or else
    sideways.
    """
    view = planner.view
    if goal.judge(view).success:
        return planner.hold_still()
    middle, box = view.position(goal.thing), view.extent(goal.thing)
    height = float(middle[2] + 0.4 * box.high[2]) + TIP_BELOW
    begun = [each for each in BEARINGS if _is_behind(planner, goal.thing, height, each)]
    if begun:
        bearing = max(begun, key=lambda each: _behind(planner, goal.thing, each))
        beyond = middle[:2] + 0.04 * np.array([np.cos(bearing), np.sin(bearing)])
        return planner.go(np.array([*beyond, height]), 0.0, CLOSED)
    rooms = {each: _room_ahead(planner, goal.thing, each) for each in BEARINGS}
    ways = [[each for each in some if rooms[each] > FALLS_FREE] for some in (FORWARD, SIDEWAYS)]
    free = ways[0] or ways[1] or [max(rooms, key=rooms.__getitem__)]
    starts = {each: _start_of(planner, goal.thing, each) for each in free}
    bearing = min(free, key=lambda each: float(np.hypot(*(starts[each] - planner.command[:2]))))
    error = float(np.hypot(*(starts[bearing] - planner.command[:2])))
    rise = min(0.06, FUNNEL_SLOPE * max(0.0, error - 0.015))
    return planner.go(np.array([*starts[bearing], height + rise]), planner.turn_to(bearing), CLOSED)


def _start_of(planner: Planner, name: str, bearing: float) -> Floats:
    """Where the hand begins to push the thing over (2,) [m]."""
    ahead = np.array([np.cos(bearing), np.sin(bearing)])
    return planner.view.position(name)[:2] - ahead * (planner.view.extent(name).radius + PAD_HALF + 0.02)


def _is_behind(planner: Planner, name: str, height: float, bearing: float) -> bool:
    """Whether the hand is low behind the thing, or already against it: the nearer, the straighter."""
    ahead = np.array([np.cos(bearing), np.sin(bearing)])
    offset = planner.command[:2] - planner.view.position(name)[:2]
    behind = _behind(planner, name, bearing)
    aside = float(np.hypot(*(offset + behind * ahead)))
    straight = aside < max(0.012, 0.4 * behind) and abs(planner.turn_to(bearing)) < KNOCK_YAW
    return planner.command[2] < height + 0.015 and straight and -0.03 < behind < 0.08


def _behind(planner: Planner, name: str, bearing: float) -> float:
    """How far the hand is behind the thing [m]."""
    offset = planner.command[:2] - planner.view.position(name)[:2]
    return -float(offset @ (np.cos(bearing), np.sin(bearing)))


def _room_ahead(planner: Planner, name: str, bearing: float) -> float:
    """The gap around where the thing will lie, at most 1 cm [m]."""
    box, place = planner.view.extent(name), planner.view.position(name)[:2]
    height = float(box.high[2] - box.low[2])
    ahead = np.array([np.cos(bearing), np.sin(bearing)])
    discs = [(*(place + share * height * ahead), box.radius) for share in (0.6, 1.1)]
    return min(0.01, clearance(discs, discs_around(planner.environment, name)))


def stand_up(planner: Planner, goal: Upright) -> Floats:
    """Tilt the hand that holds it until it nearly stands, lower it onto its edge, and let it rock upright."""
    view, name = planner.view, goal.thing
    axis, place = view.rotation(name)[:, 2], view.position(name)
    lean = float(np.arccos(np.clip(axis[2], -1.0, 1.0)))
    if lean < np.deg2rad(goal.within_deg) and not view.pads_touching(name):
        return planner.rise() if planner.is_around(place) else planner.hold_still()
    tilted = command_tilt(planner.quaternion)
    nearly = lean < ROCKS_UP or abs(tilted) > TILT - TILT_LEFT
    lowest = abs(float(axis[2])) * view.rest_height(name) + float(np.sin(lean)) * view.extent(name).radius
    if nearly and place[2] < lowest + 0.004 and planner.is_around(place):
        return planner.open() if planner.has(name) else planner.rise()
    if not planner.has(name):
        return planner.fetch(name)
    rise = lowest + (0.001 if nearly else 0.02) - float(place[2])
    ahead = float(np.arctan2(axis[1], axis[0])) - command_yaw(planner.quaternion)
    forward = tilted > 0 if abs(tilted) > TILT_LEFT else np.cos(ahead) > 0
    return planner.go(planner.command + np.array([0.0, 0.0, rise]), 0.0, CLOSED, TILT if forward else -TILT)


def _free_spot(planner: Planner, name: str, spots: Iterable[Spot]) -> Spot | None:
    """The first with room for the hand as it is turned now; else the first with room for it when it has turned."""
    (first, again), yaw = tee(spots), command_yaw(planner.quaternion)
    as_it_is = ((x, y, yaw) for x, y, _ in first)
    return free_spot(planner.environment, name, as_it_is) or free_spot(planner.environment, name, again)


def _set_at(planner: Planner, name: str, spot: Spot) -> Floats:
    return planner.put(name, np.array(spot[:2]), 0.0, EXACT, yaw=spot[2])


def _set_here(planner: Planner, name: str) -> Floats:
    return planner.put(name, planner.view.position(name)[:2].copy(), 0.0, EXACT)


def _around(middle: Floats, least: float) -> list[Spot]:
    """Spots around a place, the nearest first."""
    radii, angles = least + 0.02 * np.arange(10), np.arange(16) * (np.pi / 8)
    return [(*(middle + far * np.array([np.cos(a), np.sin(a)])), float(a)) for far in radii for a in angles]
