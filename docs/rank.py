"""Print a board of VLA Arena from a published file, with numpy and nothing else: `python rank.py FILE [--robot NAME]`.

FILE is a counts file of a publication (/leaderboard/counts/HASH.csv.gz) or what `manage.py export_votes` writes as CSV.
It shares no line with the arena's own code, and prints the same figures. docs/ranking.md has the formulae.
"""

from __future__ import annotations

import argparse
import csv
import gzip
from collections import defaultdict
from pathlib import Path

import numpy as np

SCALE, Z = 400 / np.log(10), 1.959963984540054
OUTCOMES = ("left_better", "right_better", "tie", "both_bad")
CAP, PRIOR, OFFSET_SD, FULL, LISTED = 15, 1.0, 100 / SCALE, 300.0, 5
"""A voter's votes a day, virtual games per contestant, standard deviation between robots, votes from which on
a contestant counts fully in the mean, votes for a rank."""


def read(path):
    """Rows as dictionaries, each with `n`, (4,) votes by outcome; of voters whom nobody knows a row for each vote."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["voter"] = row.get("voter", row.get("voter_id", ""))
        row["trust"] = float(row.get("trust") or 1)
        row["network"], row["day"] = row.get("network", ""), row.get("day", "")
        row["n"] = np.array([float(row[o]) if o in row else float(row["vote"] == o) for o in OUTCOMES])
    alone = [
        row | {"n": one} for row in rows if not row["voter"] for one in np.repeat(np.eye(4), row["n"].astype(int), 0)
    ]
    return [row for row in rows if row["voter"] and row["n"].any()] + alone


def level(wanted, room):
    """Fill glasses of these sizes evenly from so much."""
    found = np.zeros(len(wanted))
    for place, one in enumerate(np.argsort(wanted)):
        found[one] = min(wanted[one], room / (len(wanted) - place))
        room -= found[one]
    return found


def weigh(board, everything):
    """What each row's votes weigh: the cap of a voter's day, that of a network's day, and trust."""
    first, network, trust, cast, shared = {}, {}, {}, defaultdict(float), defaultdict(list)
    for row in everything:
        visit = row["voter"], row["day"]
        first[row["voter"]] = min(first.get(row["voter"], row["day"]), row["day"])
        network[visit], trust[visit] = row["network"], row["trust"]
    for row in board:
        cast[row["voter"], row["day"]] += row["n"].sum()
    room = {visit: min(votes, CAP) for visit, votes in cast.items()}
    for visit in sorted(cast):
        if network[visit]:
            shared[network[visit], visit[1]].append(visit)
    for visits in shared.values():
        left = CAP
        for known in (True, False):
            some = [visit for visit in visits if (first[visit[0]] < visit[1]) == known]
            room.update(zip(some, level(np.array([room[visit] for visit in some]), left), strict=True))
            left = max(0, left - sum(room[visit] for visit in some))
    per_visit = {visit: room[visit] / cast[visit] * trust[visit] for visit in cast}
    return np.array([per_visit[row["voter"], row["day"]] if row["voter"] else 1.0 for row in board])


def reachable(edges):
    reach = edges | np.eye(len(edges), dtype=bool)
    for _ in range(len(edges).bit_length()):
        reach = (reach.astype(float) @ reach) > 0
    return reach


def spread(pairs):
    """The sum of pairs[i, j] (e_i - e_j)(e_i - e_j)^T."""
    return np.diag(pairs.sum(0) + pairs.sum(1)) - pairs - pairs.T


def student(degrees):
    """Two-sided 95 % quantile (Abramowitz and Stegun 26.7.5)."""
    d = np.maximum(degrees, 2)
    return (
        Z
        + (Z**3 + Z) / 4 / d
        + (5 * Z**5 + 16 * Z**3 + 3 * Z) / 96 / d**2
        + (3 * Z**7 + 19 * Z**5 + 17 * Z**3 - 15 * Z) / 384 / d**3
        + (79 * Z**9 + 776 * Z**7 + 1482 * Z**5 - 1920 * Z**3 - 945 * Z) / 92160 / d**4
    )


def fit(i, j, w, n, size):
    """The likeliest x (size,), what pairs may expect, what their votes weigh, the inverse Hessian, and the prior."""
    score = n @ [1, 0, 0.5, 0.5]
    played, won = np.zeros((2, size, size))
    np.add.at(played, (i, j), w * n.sum(1))
    np.add.at(won, (i, j), w * score)
    x = np.zeros(size)
    for _ in range(200):
        p = 1 / (1 + np.exp(x[None, :] - x[:, None]))
        own = 1 / (1 + np.exp(-x))
        hessian = spread(played * p * (1 - p)) + np.diag(PRIOR * own * (1 - own))
        rest = won - played * p
        step = np.linalg.solve(hessian, rest.sum(1) - rest.sum(0) - PRIOR * (own - 0.5))
        x += step * min(1, 2 / np.abs(step).max(initial=1e-300))
        if np.abs(step).max(initial=0) < 1e-12:
            break
    return x, p, played, np.linalg.inv(hessian), PRIOR * own * (1 - own)


def meat_of_votes(i, j, w, n, p, played, virtual):
    """Each vote for itself; where votes hold hardly a surprise, the model's own variance takes their place."""
    seen, expected = np.zeros((2, *p.shape))
    q = p[i, j]
    np.add.at(seen, (i, j), w**2 * (n * np.stack([(1 - q) ** 2, q**2, (0.5 - q) ** 2, (0.5 - q) ** 2], 1)).sum(1))
    np.add.at(expected, (i, j), w**2 * n.sum(1) * q * (1 - q))
    surprise, model = seen.sum(0) + seen.sum(1), expected.sum(0) + expected.sum(1)
    share = surprise / np.maximum(model, 1e-300)
    doubt = np.clip((0.5 - share) / 0.25, 0, 1) * np.clip((3 - surprise) / 2, 0, 1)
    return spread(seen + np.maximum.outer(doubt, doubt) * (played * p * (1 - p) - seen)) + np.diag(virtual)


def meat_of(groups, i, j, w, n, p, bread, contestants):
    """Votes of one voter, or network, hang together; and how many equal ones those of a policy amount to."""
    q, size = p[i, j], len(bread)
    residual, known = w * (n @ [1, 0, 0.5, 0.5] - n.sum(1) * q), w * n.sum(1) * q * (1 - q)
    meat, total, squares = np.zeros((size, size)), np.zeros(contestants), np.zeros(contestants)
    for who, rows in groups.items():
        a, b, gradient, hidden, information = i[rows], j[rows], np.zeros(size), np.zeros(size), np.zeros(contestants)
        np.add.at(gradient, a, residual[rows]), np.add.at(gradient, b, -residual[rows])
        moved = bread @ gradient
        surprise = known[rows] * (moved[a] - moved[b]) / 2 * isinstance(who, str)
        np.add.at(hidden, a, surprise), np.add.at(hidden, b, -surprise)
        np.add.at(information, a % contestants, known[rows]), np.add.at(information, b % contestants, known[rows])
        meat += np.outer(gradient + hidden, gradient + hidden)
        total, squares = total + information, squares + information**2
    return meat, np.divide(total**2, squares, out=np.full(contestants, np.inf), where=squares > 0)


def board(rows, everything):
    """Name -> rating, low, high, votes, best and worst rank; by component."""
    names = sorted({row[side] for row in rows for side in ("left", "right")})
    robots = sorted({row["robot"] for row in rows})
    k, r = len(names), len(robots)
    w, n = weigh(rows, everything), np.array([row["n"] for row in rows])
    shift = np.array([robots.index(row["robot"]) * k for row in rows])
    i, j = (np.array([names.index(row[side]) for row in rows]) + shift for side in ("left", "right"))
    swap = i > j
    i, j, n = np.minimum(i, j), np.maximum(i, j), np.where(swap[:, None], n[:, [1, 0, 2, 3]], n)
    x, p, played, bread, virtual = fit(i, j, w, n, k * r)
    information = played * p * (1 - p)
    weights, blocks = [], [slice(number * k, number * k + k) for number in range(r)]
    for at in blocks:
        one = spread(information[at, at])
        one = np.linalg.solve(np.eye(k) + OFFSET_SD**2 * one, one)
        weights.append((one + one.T) / 2)
    lever = np.linalg.pinv(sum(weights), rcond=1e-10, hermitian=True) @ np.hstack(weights) if r > 1 else np.eye(k)
    met = reachable((played + played.T) > 0)
    apart = reachable(np.any([met[at, at] for at in blocks], axis=0))
    votes = (played.sum(0) + played.sum(1)).reshape(r, k).sum(0)
    mean = np.where(apart, np.minimum(votes, FULL), 0)
    mean = np.eye(k) - mean / mean.sum(1, keepdims=True)
    people, places = defaultdict(list), defaultdict(list)
    for row, each in enumerate(rows):
        people[each["voter"] or row].append(row)
        places[(each["voter"] and (each["network"] or each["voter"])) or row].append(row)
    meats = [(meat_of_votes(i, j, w, n, p, played, virtual), np.full(k, np.inf))]
    several = [groups for groups in (people, places) if sum(isinstance(who, str) for who in groups) > 1]
    meats += [meat_of(groups, i, j, w, n, p, bread, k) for groups in several]
    widths, doubts = [], []
    for meat, degrees in meats:
        covariance = lever @ bread @ meat @ bread @ lever.T
        own = np.diag(covariance)
        difference = np.sqrt(np.maximum(own[:, None] + own - 2 * covariance, 0))
        widths.append(np.sqrt(np.maximum(np.diag(mean @ covariance @ mean.T), 0)) * student(degrees))
        doubts.append(difference * student(np.minimum.outer(degrees, degrees)))
    rating, width, doubt = 1500 + SCALE * mean @ lever @ x, SCALE * np.max(widths, 0), SCALE * np.max(doubts, 0)
    cast = np.array([sum(row["n"].sum() for row in rows if name in (row["left"], row["right"])) for name in names])
    among = apart & (cast >= LISTED)
    best = 1 + ((rating - rating[:, None] > doubt) & among).sum(1)
    worst = among.sum(1) - ((rating[:, None] - rating > doubt) & among).sum(1)
    order = sorted(range(k), key=lambda a: (-apart[a].sum(), np.argmax(apart[a]), -rating[a]))
    ranks = [f"{best[a]}-{worst[a]}" if cast[a] >= LISTED else "-" for a in range(k)]
    return [(names[a], rating[a], rating[a] - width[a], rating[a] + width[a], int(cast[a]), ranks[a]) for a in order]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    keys = [parser.add_argument(f"--{key}", default="").dest for key in ("robot", "scene", "task")]
    asked = parser.parse_args()
    found = read(asked.file)
    chosen = [row for row in found if all(getattr(asked, key) in ("", row[key]) for key in keys)]
    for name, rating, low, high, votes, ranks in board(chosen, found) if chosen else []:
        print(f"{name:30} {rating:8.2f} ({low:.2f} .. {high:.2f})  {votes:6} votes  rank {ranks}")
