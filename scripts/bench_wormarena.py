#!/usr/bin/env python
"""Figures of WormArena: how quickly files are taken in, and what pages and calls cost with many games.

    .venv/bin/python scripts/bench_wormarena.py [--games 100000] [--files 2000] [--repeats 40]

Works in a new data folder under build/. The files are games of the engine's reference players with reasons, tokens and
costs made up, of about the size of a language model's games; the many games are rows without their moves.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import time
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "build" / "bench-wormarena"
MODELS = 40
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


def main() -> None:
    options = _options()
    shutil.rmtree(DATA, ignore_errors=True)
    DATA.mkdir(parents=True)
    os.environ["ARENA_DATA"] = str(DATA)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vlaarena.settings")
    sys.path.insert(0, str(ROOT))
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command

    settings.ALLOWED_HOSTS = ["testserver"]
    settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    call_command("migrate", verbosity=0)
    found = {"load_average": os.getloadavg()[0], "rate": _rate(options.files), **_many(options.games, options.repeats)}
    print(json.dumps(found, indent=1))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=100_000)
    parser.add_argument("--files", type=int, default=2_000)
    parser.add_argument("--repeats", type=int, default=40)
    return parser.parse_args()


def _rate(number: int) -> dict[str, Any]:
    """Files of realistic size, taken in from nothing."""
    from wormarena.ingestion.ledger import ingest

    files = _files(number)
    started, processor = time.perf_counter(), time.process_time()
    report = ingest(files)
    seconds, processor = time.perf_counter() - started, time.process_time() - processor
    size = sum(path.stat().st_size for path in files) / len(files)
    return {"files": report.new, "mean_kB": round(size / 1000, 1), "per_minute": round(60 * report.new / seconds),
            "per_minute_of_processor": round(60 * report.new / processor)}  # fmt: skip


def _files(number: int) -> list[Path]:
    from wormarena.engine.game import Board, play
    from wormarena.engine.players import REFERENCE_PLAYERS
    from wormarena.engine.writing import document_of, write

    drawn = random.Random(1)
    templates = []
    for seed in range(12):
        players = {"0": REFERENCE_PLAYERS["greedy"](seed), "1": REFERENCE_PLAYERS["random"](seed + 1)}
        played = play(players, Board(), seed, lambda: EPOCH.timestamp())
        templates.append(json.dumps(document_of(played, players, "template", "bench")))
    files = []
    for count in range(number):
        document = json.loads(drawn.choice(templates))
        _dress(document, drawn, count)
        files.append(write(document, DATA / "files"))
    return files


def _dress(document: Any, drawn: random.Random, count: int) -> None:
    """Reasons of 600 characters on average, tokens and costs, as language models leave them."""
    game_id = str(uuid.UUID(int=drawn.getrandbits(128)))
    start = EPOCH + timedelta(minutes=count)
    document["game"] |= {"id": game_id, "started_at": start.isoformat(), "ended_at": start.isoformat()}
    document["metadata"]["game_id"] = game_id
    for slot in ("0", "1"):
        document["players"][slot]["name"] = f"model {drawn.randrange(MODELS)}"
    for frame in document["frames"]:
        for move in frame["moves"].values():
            move["rationale"] = "I look at the apples and then turn. " * drawn.randrange(34)
            move |= {"input_tokens": 900, "output_tokens": drawn.randrange(400), "cost": drawn.random() / 100}


def _many(number: int, repeats: int) -> dict[str, Any]:
    from wormarena import aggregates
    from wormarena.models import Game

    _fill(number)
    started = time.process_time()
    aggregates.rebuild()
    rebuilt = time.process_time() - started
    ratings = _ratings_again()
    one = Game.objects.order_by("-played_at")[number // 2]
    names = [one.model_a_name, one.model_b_name]

    def update() -> None:
        aggregates.recompute(names)
        aggregates.recompute_matchups([(names[0], names[1])])

    return {
        "games": Game.objects.count(),
        "all_sums_processor_s": round(rebuilt, 1),
        "all_ratings_processor_s": round(ratings, 1),
        "sums_of_a_game_ms": _times(repeats, update),
        "one_more_game_ms": _one_more(),
        "pages_ms": _pages(repeats),
    }


def _ratings_again() -> float:
    from wormarena.models import Game, LedgerState
    from wormarena.ratings import refresh

    started = time.process_time()
    refresh.start_again()
    refresh.refresh()
    LedgerState.objects.update(counted_games=Game.objects.count())
    return time.process_time() - started


def _fill(number: int) -> None:
    from wormarena.models import Game, Participant

    drawn = random.Random(2)
    for start in range(0, number, 5000):
        games, players = [], []
        for count in range(start, min(start + 5000, number)):
            game, sides = _row(drawn, count)
            games.append(game)
            players += sides
        Game.objects.bulk_create(games)
        Participant.objects.bulk_create(players)


def _row(drawn: random.Random, count: int) -> Any:
    from wormarena.models import Game, Participant

    names = [f"model {number}" for number in drawn.sample(range(MODELS), 2)]
    moment = EPOCH - timedelta(minutes=count + 1)
    scores, rounds = [drawn.randrange(20), drawn.randrange(20)], drawn.randrange(100)
    results = ["tied", "tied"] if scores[0] == scores[1] else ["won", "lost"][:: 1 if scores[0] > scores[1] else -1]
    game = Game(
        game_id=f"bench-{count}", started_at=moment, ended_at=moment, game_type="bench", board_width=10,
        board_height=10, rounds_played=rounds, model_a_name=names[0], model_b_name=names[1], total_score=sum(scores),
        total_cost=0.1, replay_path="", content_hash="", played_at=moment, finished_at=moment,
    )  # fmt: skip
    sides = [
        Participant(
            game=game, player_slot=slot, model_name=names[slot], opponent_name=names[1 - slot], result=results[slot],
            final_score=scores[slot], death_reason=drawn.choice(["wall", "head_collision", "body_collision", None]),
            death_round=rounds, played_at=moment, day=moment.date(), rounds_played=rounds, total_cost=0.05,
            cost_picodollars=drawn.randrange(10**11), total_input_tokens=10**4, total_output_tokens=10**3,
            moves=rounds, reasoning_chars=600 * rounds, reasoning_per_move=drawn.randrange(1200),
            move_output_tokens=100 * rounds, move_picodollars=10**10,
        )
        for slot in (0, 1)
    ]  # fmt: skip
    return game, sides


def _one_more() -> float:
    """A file of a new game, read and counted, ratings and all [ms]."""
    from wormarena.ingestion.ledger import ingest

    path = next((DATA / "files").iterdir())
    document = json.loads(path.read_text())
    document["game"] |= {"id": "one-more", "started_at": "2027-01-01T00:00:00"}
    fresh = DATA / "snake_game_one-more.json"
    fresh.write_text(json.dumps(document))
    started = time.perf_counter()
    ingest([fresh])
    return round(1000 * (time.perf_counter() - started), 1)


def _pages(repeats: int) -> dict[str, Any]:
    from django.test import Client

    client, known = Client(), next((DATA / "files").iterdir()).stem.removeprefix("snake_game_")
    addresses = [
        *("/wormarena/", "/wormarena/model?name=model+7", "/wormarena/pairs", "/wormarena/games", "/wormarena/live"),
        *("/wormarena/games?model=model+7&opponent=model+8", f"/wormarena/games/{known}"),
        *("/api/wormarena/models", "/api/wormarena/decisions", "/api/wormarena/matchups"),
        *("/api/wormarena/games/recent?limit=20", "/api/wormarena/games/recent?model=model+7&result=won"),
        *("/api/wormarena/games/recent?gameType=bench", f"/api/wormarena/games/{known}"),
    ]
    found = {}
    for address in addresses:

        def ask(address: str = address) -> None:
            status = client.get(address).status_code
            if status != 200:
                raise SystemExit(f"{address} answered {status}")

        found[address] = _times(repeats, ask)
    return found


def _times(repeats: int, act: Any) -> dict[str, float]:
    """Milliseconds, after one that warms up: by the clock, and of the processor, which others do not slow down."""
    act()
    clock, processor = [], []
    for _ in range(repeats):
        before = time.perf_counter(), time.process_time()
        act()
        clock.append(1000 * (time.perf_counter() - before[0]))
        processor.append(1000 * (time.process_time() - before[1]))
    return {**_spread("", clock), **_spread("processor_", processor)}


def _spread(name: str, times: list[float]) -> dict[str, float]:
    times.sort()
    return {f"{name}p50": round(times[len(times) // 2], 1), f"{name}p95": round(times[int(0.95 * len(times))], 1)}


if __name__ == "__main__":
    main()
