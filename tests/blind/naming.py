"""Naming sides by what was seen of them, and how surely that is better than chance.

Two ways, both simple enough to leave no doubt about what they do: the nearest class mean after whitening (linear
discriminant analysis with shrinkage), and the vote of the five nearest sides. Sides of a battle are left out of the
training together. Chance is told by permutation: the battles' pairs of names are dealt anew, sides swapped by a coin,
which keeps who meets whom and how often (F. Pesarin and L. Salmaso, Permutation Tests for Complex Data, 2010). Battles
that are alike in something known to tell, as in when they end, exchange names only among themselves: what that tells is
part of chance then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
FOLDS, NEIGHBOURS, SHRINKAGE = 10, 5, 0.1
ALIKE = 12


@dataclass(frozen=True)
class Named:
    """`right`: share of sides named rightly, by the better of the two ways; `chance`: what permuted names give (mean);
    `p`: how often permuted names give as much, with both ways and both targets tried, as the outsider does."""

    sides: int
    right: dict[str, float]
    chance: dict[str, float]
    p: float


def name(
    sides: Sequence[Mapping[str, float]],
    targets: Mapping[str, Sequence[str]],
    deals: int = 999,
    seed: int = 0,
    known: Sequence[float] | None = None,
    apart: Sequence[int] | None = None,
) -> Named:
    """`sides`: features, both sides of battle i at 2 i and 2 i + 1; `targets`: kind of label -> label of each side.

    `known`: of each battle, what may tell: names are dealt among battles of about the same value. `apart`: likewise,
    but only among battles of exactly the same.
    """
    rng = np.random.default_rng(seed)
    groups = _groups(len(sides) // 2, known, apart)
    points = _whitened(_table(sides))
    fold = np.repeat(rng.permutation(len(sides) // 2) % FOLDS, 2)
    nearest = _neighbours(points, fold)
    codes = {target: np.unique(np.asarray(labels), return_inverse=True)[1] for target, labels in targets.items()}
    orders = [np.arange(len(sides))] + [_deal(rng, groups) for _ in range(deals)]
    scores = np.array(
        [
            [score for code in codes.values() for score in _scores(points, fold, nearest, code[order])]
            for order in orders
        ]
    )
    centre, spread = scores[1:].mean(axis=0), scores[1:].std(axis=0) + 1e-9
    best = ((scores - centre) / spread).max(axis=1)
    pairs = {target: slice(2 * place, 2 * place + 2) for place, target in enumerate(codes)}
    return Named(
        sides=len(sides),
        right={target: float(scores[0, pair].max()) for target, pair in pairs.items()},
        chance={target: float(scores[1:, pair].max(axis=1).mean()) for target, pair in pairs.items()},
        p=float((1 + (best[1:] >= best[0] - 1e-9).sum()) / (1 + deals)),
    )


def _groups(battles: int, known: Sequence[float] | None, apart: Sequence[int] | None) -> list[Integers]:
    """Places of battles that may exchange names."""
    values = np.zeros(battles) if known is None else np.asarray(known, dtype=float)
    kinds = np.zeros(battles, dtype=int) if apart is None else np.asarray(apart)
    places = [np.flatnonzero(kinds == kind) for kind in np.unique(kinds)]
    return [here[group] for here in places for group in _alike(values[here])]


def _alike(known: Floats) -> list[Integers]:
    """Places of battles in groups of ALIKE or more whose values are next to each other; equal ones stay together."""
    order = np.argsort(known, kind="stable")
    runs = np.split(order, np.flatnonzero(np.diff(known[order])) + 1)
    groups: list[list[Integers]] = [[]]
    for run in runs:
        if sum(map(len, groups[-1])) >= ALIKE:
            groups.append([])
        groups[-1].append(run)
    if len(groups) > 1 and sum(map(len, groups[-1])) < ALIKE:
        groups[-2] += groups.pop()
    return [np.concatenate(group) for group in groups]


def _deal(rng: np.random.Generator, groups: Sequence[Integers]) -> Integers:
    """Places of the labels after dealing the battles' pairs anew within each group, each with its sides swapped by a
    coin."""
    battles = np.arange(sum(map(len, groups)))
    for group in groups:
        battles[group] = rng.permutation(group)
    pairs = np.stack([2 * battles, 2 * battles + 1], axis=1)
    swapped = rng.random(len(battles)) < 0.5
    pairs[swapped] = pairs[swapped, ::-1]
    return np.asarray(pairs.ravel())


def _table(sides: Sequence[Mapping[str, float]]) -> Floats:
    names = sorted({feature for side in sides for feature in side})
    return np.array([[side.get(feature, -1.0) for feature in names] for side in sides])


def _whitened(table: Floats) -> Floats:
    """Columns that vary, each about its mean, turned and scaled so that their covariance is near one."""
    varies = table.std(axis=0) > 1e-12 * (1.0 + np.abs(table).max(axis=0))
    table = table[:, varies]
    if table.shape[1] == 0:
        return np.zeros((len(table), 1))
    table = (table - table.mean(axis=0)) / table.std(axis=0)
    covariance = (1 - SHRINKAGE) * np.cov(table.T).reshape(table.shape[1], -1) + SHRINKAGE * np.eye(table.shape[1])
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(table @ vectors / np.sqrt(values))


def _neighbours(points: Floats, fold: Integers) -> Integers:
    """(sides, NEIGHBOURS): the nearest sides of other folds."""
    gaps = ((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)
    gaps[fold[:, None] == fold[None, :]] = np.inf
    return np.argsort(gaps, axis=1, kind="stable")[:, :NEIGHBOURS]


def _scores(points: Floats, fold: Integers, nearest: Integers, code: Integers) -> tuple[float, float]:
    """Share named rightly by the nearest mean, and by the nearest sides."""
    classes = int(code.max()) + 1
    means = np.full(len(code), -1)
    for number in range(FOLDS):
        test = fold == number
        train = ~test
        if not test.any() or not train.any():
            continue
        counts = np.bincount(code[train], minlength=classes)
        sums = np.zeros((classes, points.shape[1]))
        np.add.at(sums, code[train], points[train])
        centres = sums / np.maximum(counts, 1)[:, None]
        prior = np.log(np.maximum(counts, 0.5) / counts.sum())
        reach = -0.5 * ((points[test][:, None, :] - centres[None]) ** 2).sum(axis=2) + prior
        reach[:, counts == 0] = -np.inf
        means[test] = reach.argmax(axis=1)
    votes = np.zeros((len(code), classes))
    for place in range(nearest.shape[1]):
        votes[np.arange(len(code)), code[nearest[:, place]]] += 1
    return float((means == code).mean()), float((votes.argmax(axis=1) == code).mean())
