"""Figures that are read at each scrape, rather than counted: queue, workers, recent rollouts, boards, disk, parts."""

from __future__ import annotations

import logging
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import version

import django
from django.db import DatabaseError
from prometheus_client import Metric
from prometheus_client.core import GaugeHistogramMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from vlaarena.monitoring import readings
from vlaarena.monitoring.instruments import SECONDS

log = logging.getLogger(__name__)
Metrics = Iterator[Metric]


class Readings(Collector):
    """`parts`: part -> whether it answers."""

    def __init__(self, parts: Callable[[], dict[str, bool]]) -> None:
        self._parts = parts

    def describe(self) -> Iterable[Metric]:
        return []

    def collect(self) -> Metrics:
        yield _by_label("arena_part_up", "Whether the part answers.", "part", self._parts())
        yield _about()
        yield from _disk()
        complete = True
        for group in (_queue, _workers, _rollouts, _boards):
            try:
                yield from list(group())
            except DatabaseError:
                complete = False
                log.warning("Figures could not be read from the database", exc_info=True)
        yield _one("arena_readings_ok", "Whether the database gave all of its figures.", complete)


def _queue() -> Metrics:
    """Of all policies together: by policy it would name the pair that is played."""
    waiting = readings.queue()
    yield _one("arena_rollouts_queued", "Rollouts that wait for a worker.", waiting.queued)
    yield _one("arena_rollouts_running", "Rollouts that are played now.", waiting.running)
    yield _one("arena_queue_oldest_wait_seconds", "How long the oldest queued rollout waits.", waiting.oldest_s)


def _workers() -> Metrics:
    live = readings.workers()
    able = Counter(policy for worker in live for policy in worker.plays)
    able.update(dict.fromkeys(readings.contestants(), 0))
    plays = {worker.name: len(worker.plays) for worker in live}
    yield _one("arena_workers", "Workers that have announced what they host lately.", len(live))
    yield _by_label("arena_worker_policies", "Policies that a worker can play.", "worker", plays)
    yield _by_label("arena_policy_workers", "Live workers that can play a policy.", "policy", able)
    yield _by_label("arena_policies", "Registered policies, references aside.", "status", readings.policies_by_status())


def _rollouts() -> Metrics:
    yield _by_label(
        "arena_rollouts_settled_lately",
        "Rollouts that ended in the last 15 minutes: completed, or why they failed.",
        "outcome",
        readings.settled_lately(),
    )
    played = readings.played()
    outcomes = GaugeMetricFamily(
        "arena_rollouts_last_hour",
        "Rollouts of voted battles that ended in the last whole hour: completed, or why they failed.",
        labels=["policy", "outcome"],
    )
    for (policy, outcome), number in sorted(readings.outcomes(played).items()):
        outcomes.add_metric([policy, outcome], number)
    yield outcomes
    spans = GaugeHistogramMetricFamily(
        "arena_rollout_seconds", "Where the time of these rollouts of the last whole hour went.", labels=["phase"]
    )
    for phase in readings.PHASES:
        values = [each.seconds[phase] for each in played if phase in each.seconds]
        counts = [(str(bound), float(sum(value <= bound for value in values))) for bound in SECONDS]
        spans.add_metric([phase], [*counts, ("+Inf", float(len(values)))], sum(values))
    yield spans


def _boards() -> Metrics:
    boards = readings.boards()
    if boards.status != readings.NEVER:
        yield _one("arena_aggregation_ok", "Whether the last aggregation went well.", boards.status == "ok")
    if boards.check_status != readings.NEVER:
        yield _one("arena_counts_check_ok", "Whether the last check found no difference.", boards.check_status == "ok")
    if boards.age_s is not None:
        yield _one("arena_boards_age_seconds", "Since the boards were published.", boards.age_s)
    if boards.check_age_s is not None:
        yield _one("arena_counts_check_age_seconds", "Since counts and boards were checked.", boards.check_age_s)
    waiting = {"pending": boards.pending, "failed": boards.failed}
    yield _by_label("arena_votes_unprocessed", "Votes that no aggregation has taken in.", "status", waiting)
    yield _one("arena_findings_open", "Findings that wait for a moderator.", sum(boards.findings.values()))


def _disk() -> Metrics:
    disk = readings.disk()
    yield _one("arena_disk_free_bytes", "Free where the data folder lies.", disk.free)
    yield _one("arena_disk_size_bytes", "Size of that file system.", disk.total)


def _about() -> Metric:
    labels = {"python": platform.python_version(), "django": django.__version__, "celery": version("celery")}
    family = GaugeMetricFamily("arena_build", "What the answering process runs on; always 1.", labels=list(labels))
    family.add_metric(list(labels.values()), 1)
    return family


def _one(name: str, about: str, value: float) -> Metric:
    return GaugeMetricFamily(name, about, value=float(value))


def _by_label(name: str, about: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(name, about, labels=[label])
    for each, value in sorted(values.items()):
        family.add_metric([each], float(value))
    return family
