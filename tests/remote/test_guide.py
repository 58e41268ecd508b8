"""The server of docs/bring-your-own-policy.md is one, and needs nothing beside its address."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

from policies.remote.card import card_from
from policies.remote.errors import ServerAway
from policies.remote.metadata import declared
from policies.remote.policy import ask_metadata, open_card
from tests.stack import BASE_DIR

GUIDE = BASE_DIR / "docs" / "bring-your-own-policy.md"
WAIT_S = 30.0


def test_the_server_of_the_guide_is_registered_by_its_address_and_answers(tmp_path: Path) -> None:
    found = re.search(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert found
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    file, url = tmp_path / "server.py", f"ws://127.0.0.1:{port}"
    file.write_text(textwrap.dedent(found[1]).replace("8001", str(port)))
    with subprocess.Popen([sys.executable, str(file)], cwd=tmp_path) as process:
        try:
            wait_for(url)
            policy = open_card(card_from("always-down", url, declared(ask_metadata(url)), {}))
            policy.reset("pick up the red cube", 0)
            actions = policy.infer(policy.spec.grey_observation("pick up the red cube"))
            policy.close()
        finally:
            process.kill()
    assert policy.spec.name == "Always down"
    assert actions.tolist() == [[0.0, 0.0, -0.005, 0.0, 0.0, 0.0, 1.0]] * 4


def wait_for(url: str) -> None:
    until = time.monotonic() + WAIT_S
    while True:
        try:
            ask_metadata(url)
            return
        except ServerAway:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)
