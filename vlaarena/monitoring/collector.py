"""Metrics that are read at each scrape instead of counted: queue, workers, recent rollouts, boards, disk and parts."""

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
from vlaarena.monitoring.requests import SECONDS

log = logging.getLogger(__name__)
Metrics = Iterator[Metric]


class Readings(Collector):
    """`parts` returns part -> whether it answers."""

    def __init__(self, parts: Callable[[], dict[str, bool]]) -> None:
        self._parts = parts

    def describe(self) -> Iterable[Metric]:
        return []

    def collect(self) -> Metrics:
        yield _by_label("arena_part_up", "Whether the part answers.", "part", self._parts())
        yield _build()
        disk = readings.disk()
        yield _gauge("arena_disk_free_bytes", "Free space on the data folder's file system.", disk.free)
        yield _gauge("arena_disk_size_bytes", "Size of that file system.", disk.total)
        complete = True
        for group in (_queue, _workers, _rollouts, _boards):
            try:
                yield from list(group())
            except DatabaseError:
                complete = False
                log.warning("Figures could not be read from the database", exc_info=True)
        yield _gauge("arena_readings_ok", "Whether the database returned all of its figures.", complete)


def _queue() -> Metrics:
    """Sums over all policies: figures per policy would reveal the pair that is playing."""
    waiting = readings.queue()
    yield _gauge("arena_rollouts_queued", "Rollouts that wait for a worker.", waiting.queued)
    yield _gauge("arena_rollouts_running", "Rollouts that are being played.", waiting.running)
    yield _gauge("arena_queue_oldest_wait_seconds", "Waiting time of the oldest queued rollout.", waiting.oldest_s)


def _workers() -> Metrics:
    live = readings.workers()
    able = Counter(policy for worker in live for policy in worker.plays)
    able.update(dict.fromkeys(readings.contestants(), 0))
    plays = {worker.name: len(worker.plays) for worker in live}
    yield _gauge("arena_workers", "Workers that have recently announced what they host.", len(live))
    yield _by_label("arena_worker_policies", "Policies that a worker can play.", "worker", plays)
    yield _by_label("arena_policy_workers", "Live workers that can play a policy.", "policy", able)
    yield _by_label("arena_policies", "Registered policies, references aside.", "status", readings.policies_by_status())


def _rollouts() -> Metrics:
    yield _by_label(
        "arena_rollouts_settled_lately",
        "Rollouts that ended in the last 15 minutes, by outcome: completed, or the reason of the failure.",
        "outcome",
        readings.settled_lately(),
    )
    played = readings.played()
    outcomes = GaugeMetricFamily(
        "arena_rollouts_last_hour",
        "Rollouts of voted battles that ended in the last whole hour: completed, or the reason of the failure.",
        labels=["policy", "outcome"],
    )
    for (policy, outcome), number in sorted(readings.outcomes(played).items()):
        outcomes.add_metric([policy, outcome], number)
    yield outcomes
    spans = GaugeHistogramMetricFamily(
        "arena_rollout_seconds", "Time per phase of these rollouts of the last whole hour.", labels=["phase"]
    )
    for phase in readings.PHASES:
        values = [each.seconds[phase] for each in played if phase in each.seconds]
        counts = [(str(bound), float(sum(value <= bound for value in values))) for bound in SECONDS]
        spans.add_metric([phase], [*counts, ("+Inf", float(len(values)))], sum(values))
    yield spans


def _boards() -> Metrics:
    boards = readings.boards()
    run, check = boards.aggregation, boards.check
    if run.status != readings.NEVER:
        yield _gauge("arena_aggregation_ok", "Whether the last aggregation succeeded.", run.status == "ok")
    if check.status != readings.NEVER:
        yield _gauge("arena_counts_check_ok", "Whether the last check found no difference.", check.status == "ok")
    if run.age_s is not None:
        yield _gauge("arena_boards_age_seconds", "Time since the boards were published.", run.age_s)
    if check.age_s is not None:
        yield _gauge("arena_counts_check_age_seconds", "Time since counts and boards were checked.", check.age_s)
    waiting = {"pending": boards.pending, "failed": boards.failed}
    yield _by_label("arena_votes_unprocessed", "Votes not yet aggregated.", "status", waiting)
    yield _gauge("arena_findings_open", "Findings that wait for a moderator.", sum(boards.findings.values()))


def _build() -> Metric:
    labels = {"python": platform.python_version(), "django": django.__version__, "celery": version("celery")}
    family = GaugeMetricFamily("arena_build", "Versions of the answering process; always 1.", labels=list(labels))
    family.add_metric(list(labels.values()), 1)
    return family


def _gauge(name: str, about: str, value: float) -> Metric:
    return GaugeMetricFamily(name, about, value=float(value))


def _by_label(name: str, about: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(name, about, labels=[label])
    for each, value in sorted(values.items()):
        family.add_metric([each], float(value))
    return family
