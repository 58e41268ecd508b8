"""The server beside the arena frees its model while nobody asks, and answers whoever asks next."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psutil
import pytest

from tests.ports import free_port
from tests.stack import wait_until
from texts import embedded

KEY = "only-for-this-test"
SOON = f"""
import runpy, sys
from pathlib import Path
served = runpy.run_path({str(embedded.SERVER)!r})
served["main"].__globals__["IDLE_S"] = 1
served["main"](sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]))
"""
"""Serves as `texts/language_server.py` does, but for the pause after which it sleeps."""
WEIGHTS_MB = 98


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[psutil.Process, str]]:
    """Its process and its address."""
    key_file, port = tmp_path_factory.mktemp("key") / "key", free_port()
    key_file.write_text(KEY)
    *_, weights, name, _port, _key = embedded.command(port, key_file)
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", SOON, weights, name, str(port), str(key_file)], stdout=subprocess.DEVNULL
    )
    address = f"http://127.0.0.1:{port}/v1"
    try:
        wait_until(lambda: process.poll() is not None or is_up(address), 120)
        assert process.poll() is None, "the server ended"
        yield psutil.Process(process.pid), address
    finally:
        process.terminate()
        process.wait(10)


def is_up(address: str) -> bool:
    try:
        return bool(call(address, "/models")["data"])
    except OSError:
        return False


def call(address: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    content = json.dumps(body).encode() if body else None
    with urllib.request.urlopen(urllib.request.Request(address + path, content, headers), timeout=120) as answer:
        told: dict[str, Any] = json.loads(answer.read())
        return told


def answer(address: str) -> str:
    asked = [{"role": "user", "content": "What is the capital of France? One word."}]
    told = call(address, "/chat/completions", {"messages": asked, "max_tokens": 8, "temperature": 0})
    return str(told["choices"][0]["message"]["content"])


def megabytes(process: psutil.Process) -> float:
    return float(process.memory_info().rss / 1e6)


def test_a_model_that_nobody_asks_takes_less_than_its_weights_and_answers_both_sides_as_before(
    server: tuple[psutil.Process, str],
) -> None:
    process, address = server
    awake = answer(address)
    assert awake.strip()
    for _ in range(2):
        wait_until(lambda: megabytes(process) < WEIGHTS_MB, 60)
        with ThreadPoolExecutor(2) as sides:
            assert list(sides.map(answer, [address] * 2)) == [awake] * 2


def test_asking_what_is_served_does_not_wake_it(server: tuple[psutil.Process, str]) -> None:
    process, address = server
    answer(address)
    assert megabytes(process) > WEIGHTS_MB
    wait_until(lambda: is_up(address) and megabytes(process) < WEIGHTS_MB, 60)
    assert is_up(address)
    assert megabytes(process) < WEIGHTS_MB
