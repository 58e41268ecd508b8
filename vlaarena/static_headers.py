"""Response headers of static files. Only the MuJoCo worker may evaluate code, so that no page needs that right."""

from __future__ import annotations

from wsgiref.headers import Headers

WORKER = "mujoco-worker"
# MuJoCo's JavaScript uses `new Function`. A worker follows the policy of its own response, and has no document.
WORKER_POLICY = "default-src 'none'; script-src 'self' 'unsafe-eval' 'wasm-unsafe-eval'; connect-src 'self'"
PLAIN_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"


def add_headers(headers: Headers, path: str, url: str) -> None:
    """Called by WhiteNoise for each file that it serves."""
    is_worker = url.rpartition("/")[2].startswith(WORKER) and url.endswith(".js")
    headers["Content-Security-Policy"] = WORKER_POLICY if is_worker else PLAIN_POLICY
    headers["X-Content-Type-Options"] = "nosniff"
