"""The front end's own tests of its pure parts, run by Node."""

from __future__ import annotations

import subprocess

from tests.stack import BASE_DIR


def test_the_front_ends_own_tests_pass() -> None:
    done = subprocess.run(
        ["../scripts/with_node.sh", "npm", "test", "--silent"],
        cwd=BASE_DIR / "frontend",
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
