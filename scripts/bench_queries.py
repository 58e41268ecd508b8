"""`make bench-queries`: times every database query of visitors' requests, on an arena of a million votes.

It fills a new database (`manage.py seed_load`): SQLite in a folder, or a database on the PostgreSQL server that
DATABASE_URL names. Of the recordings it stores only the one that it reads. It requests every address
(`tests/routes.py`), records the queries, repeats each SELECT reading all rows, and prints the slowest with the engine's
plan. Run it on an otherwise idle machine.
"""

from __future__ import annotations

import argparse
import logging
import os
import secrets
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("MUJOCO_GL", "osmesa")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

LIMIT_MS = 100.0
REPEATS = 5


@dataclass
class Query:
    """A query of one address. `ms`: the median of REPEATS runs, or the time of the one run if it is not a SELECT."""

    address: str
    sql: str
    params: Any
    ms: float = 0.0


@contextmanager
def database(folder: Path) -> Iterator[str]:
    """The URL of an empty database, which is dropped afterwards if it is on a server."""
    import psycopg

    server = os.environ.get("DATABASE_URL", "")
    if not server:
        yield f"sqlite:///{folder / 'arena.sqlite3'}"
        return
    name = f"vla_arena_bench_{secrets.token_hex(4)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
        try:
            yield server.rpartition("/")[0] + f"/{name}"
        finally:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def measure(votes: int, episodes: int) -> tuple[list[Query], dict[str, int]]:
    """(queries, the slowest first; address -> number of queries). Fills the settings' database if it is empty."""
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.db import connection

    from arena.models import Session

    logging.getLogger().setLevel(logging.ERROR)
    call_command("migrate", verbosity=0)
    settings.RATE_LIMITS = {}
    settings.REPEAT_SHARE = 0.0
    settings.ALLOWED_HOSTS = ["testserver"]
    if not Session.objects.exists():
        call_command("seed_load", "--votes", str(votes), "--episodes", str(episodes), "--without-recordings")
    with connection.cursor() as cursor:  # PostgreSQL does this by itself within a minute of so many new rows
        cursor.execute("VACUUM (ANALYZE)" if connection.vendor == "postgresql" else "ANALYZE")
    found: dict[tuple[str, str], Query] = {}
    counts: dict[str, int] = {}
    for address, call in calls():
        seen = noted(call)
        counts[address] = len(seen)
        for sql, params, ms in seen:
            found.setdefault((address, sql), Query(address, sql, params, ms))
    for each in found.values():
        if each.sql.lstrip().upper().startswith("SELECT"):
            each.ms = timed(each)
    return sorted(found.values(), key=lambda each: -each.ms), counts


def calls() -> Iterator[tuple[str, Callable[[], Any]]]:
    """(address, function that requests it) of everything visitors do, on the newest synthetic battle and a new one."""
    from django.core import signing
    from django.test import Client
    from django.utils import timezone

    from arena.models import Attempt, AttemptStatus, Turn, Vote
    from arena.visitors.cookies import COOKIE, SALT
    from rankings.models import Snapshot
    from tests import routes
    from vlaarena.preferences import strings_version
    from vlaarena.synthetic import episodes as recorded
    from wormarena.ingestion import demo
    from wormarena.models import Game

    newest = Vote.objects.select_related("battle").latest("voted_at")
    seen = Attempt.objects.filter(turn__battle=newest.battle).first()
    if seen:
        recorded.save(recorded.play(1), [(0, {"_id": seen.episode_id, "attempt": 1})])
    client = Client()
    client.cookies[COOKIE] = signing.dumps(regular(), salt=SALT, compress=False)
    own: dict[str, Any] = {}

    def post(name: str, address: str, body: Any) -> tuple[str, Callable[[], Any]]:
        def call() -> None:
            answer = client.post(address.format(**own), body, content_type="application/json")
            if answer.status_code >= 400:
                raise SystemExit(f"POST {address} answered {answer.status_code}: {answer.content[:300]!r}")
            own[name] = answer.json()
            own.update({f"{name}_{key}": value for key, value in answer.json().items() if isinstance(value, str)})

        return f"POST {address}", call

    yield post("opened", "/api/sessions/init", {})
    yield post("sent", "/api/battles/{opened_battle_id}/turns", {"instruction": "pick up the red cube"})
    demo.enter()
    worm = Game.objects.all()[0]
    things = {
        "worm_game": worm.game_id,
        "worm_model": worm.model_a_name,
        "battle": own["opened_battle_id"],
        "voted": newest.battle_id,
        "session": newest.session_id,
        "turn": seen.turn_id if seen else "",
        "episode": seen.episode_id if seen else "",
        "waiting": own["sent_turn_id"],
        "model": newest.left_model_id,
        "counts": Snapshot.objects.latest("made_at").input_hash,
        "version": strings_version("de"),
        "scene_file": routes.scene_file(client),
    }
    for addresses in routes.READ.values():
        for address in addresses:
            yield address, partial(_read, client, address.format(**things))
    now = timezone.now()
    Attempt.objects.filter(turn__turn_id=own["sent_turn_id"]).update(
        status=AttemptStatus.COMPLETED, started_at=now, finished_at=now
    )
    Turn.objects.filter(turn_id=own["sent_turn_id"]).update(settled_at=now)
    yield post("voted", "/api/votes", {"battle_id": own["opened_battle_id"], "vote": "tie"})
    yield post("explored", "/api/battles/{opened_battle_id}/explorations", {"seed": 1})
    yield post("next", "/api/sessions/{opened_session_id}/battles", {})


def regular() -> str:
    """A visitor with a long history: becomes the owner of the newest synthetic sessions and their votes."""
    from arena.models import Session, Vote
    from arena.visitors.cookies import new_visitor

    visitor, newest = new_visitor(), list(Session.objects.order_by("-last_active_at").values_list("pk", flat=True)[:50])
    Vote.objects.filter(session__in=Session.objects.filter(pk__in=newest)).update(user_id=visitor)
    Session.objects.filter(pk__in=newest).update(user_id=visitor)
    return visitor


def _read(client: Any, address: str) -> None:
    answer = client.get(address)
    if answer.status_code != 200:
        raise SystemExit(f"GET {address} answered {answer.status_code}")


def noted(call: Callable[[], Any]) -> list[tuple[str, Any, float]]:
    """(statement, parameters, milliseconds) of every query that a call runs."""
    from django.db import connection

    from tests.routes import TRANSACTION

    seen: list[tuple[str, Any, float]] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        before = time.perf_counter()
        answer = execute(sql, params, many, context)
        if not sql.lstrip().upper().startswith(TRANSACTION):
            seen.append((sql, params, 1000 * (time.perf_counter() - before)))
        return answer

    with connection.execute_wrapper(note):
        call()
    return seen


def timed(each: Query) -> float:
    """The median time [ms] with all rows read, since an engine may search for a row only when it is fetched."""
    from django.db import connection, transaction

    taken = []
    for _ in range(REPEATS):
        with transaction.atomic(), connection.cursor() as cursor:
            before = time.perf_counter()
            cursor.execute(each.sql, each.params)
            cursor.fetchall()
            taken.append(1000 * (time.perf_counter() - before))
    return statistics.median(taken)


def plan_of(each: Query) -> str:
    from django.db import connection, transaction

    words = "EXPLAIN (ANALYZE, COSTS OFF)" if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN"
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"{words} {each.sql}", each.params)
        return "\n".join(f"    {row[-1]}" for row in cursor.fetchall())


def print_report(found: list[Query], counts: dict[str, int], count: int) -> None:
    most = ", ".join(f"{address} {number}" for address, number in sorted(counts.items(), key=lambda one: -one[1])[:5])
    print(f"{len(counts)} addresses, {len(found)} different queries; the most: {most}. The slowest:")
    print("\n| ms | address | query |\n| --- | --- | --- |")
    for each in found[:count]:
        print(f"| {each.ms:.1f} | {each.address} | `{each.sql[:110]}` |")
    for each in found:
        if each.ms > LIMIT_MS and each.sql.lstrip().upper().startswith("SELECT"):
            print(f"\n{each.address}: {each.ms:.0f} ms\n  {each.sql[:1500]}\n{plan_of(each)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--votes", type=int, default=1_000_000)
    parser.add_argument("--episodes", type=int, default=100_000)
    parser.add_argument("--slowest", type=int, default=15, help="how many queries to list")
    parser.add_argument("--folder", type=Path, help="a data folder that is filled already, or shall be kept")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vla-arena-bench-") as temporary:
        folder = options.folder or Path(temporary)
        os.environ.update({"ARENA_DATA": str(folder), "DJANGO_SETTINGS_MODULE": "vlaarena.settings"})
        from tests import servers

        servers.choose_addresses(Path(temporary))
        servers.start()
        try:
            with database(folder) as url:
                os.environ["DATABASE_URL"] = url
                found, counts = measure(options.votes, options.episodes)
                print_report(found, counts, options.slowest)
                _close()
        finally:
            servers.stop()
    slow = [each for each in found if each.ms > LIMIT_MS]
    print(
        f"missed: {len(slow)} queries take over {LIMIT_MS:.0f} ms" if slow else "every target is met", file=sys.stderr
    )
    return 1 if slow else 0


def _close() -> None:
    """Close every connection, so that the database can be dropped."""
    from django.db import connection

    connection.close()
    if connection.vendor == "postgresql":
        connection.close_pool()  # type: ignore[attr-defined]


if __name__ == "__main__":
    sys.exit(main())
