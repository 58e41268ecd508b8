"""Only the engine's worker may evaluate code."""

from __future__ import annotations

from wsgiref.headers import Headers

import pytest

from vlaarena.static_headers import add_headers


def policy_of(url: str) -> str:
    headers = Headers([])
    add_headers(headers, "", url)
    assert headers["X-Content-Type-Options"] == "nosniff"
    return headers["Content-Security-Policy"] or ""


def test_the_worker_may_evaluate_and_fetch_from_here_and_nothing_else() -> None:
    policy = policy_of("/static/dist/mujoco-worker.0123456789ab.js")
    assert "'unsafe-eval'" in policy
    assert policy.startswith("default-src 'none'")
    assert "connect-src 'self'" in policy


@pytest.mark.parametrize(
    "name", ["battle.0123456789ab.js", "mujoco.0123456789ab.wasm", "mujoco-worker.js.map", "a.svg"]
)
def test_no_other_file_may(name: str) -> None:
    assert "unsafe-eval" not in policy_of(f"/static/dist/{name}")
