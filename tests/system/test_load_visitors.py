"""Visitors of `make load`: every kind of arena has some, and what they do is that of the kind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from django.conf import settings

from scripts.load_targets import SHARES

KINDS = """
import json, django
django.setup()
from arena import kinds
print(json.dumps([kind.id for kind in kinds.every()]))
"""
SPLIT = """
import json, sys
sys.path.insert(0, "scripts")
import load_visitors
shares = json.loads(sys.argv[1])
print(json.dumps({script.__name__: share for script, share in load_visitors.scripts(shares).items()}))
"""


def printed(script: str, *arguments: str) -> Any:
    """In a process of its own: gevent changes the standard library, and other tests enter kinds."""
    command = [sys.executable, "-c", script, *arguments]
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "vlaarena.settings"}
    done = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True, check=True, env=environment)
    return json.loads(done.stdout)


def split(**shares: float) -> Any:
    """The script of each kind, and its share."""
    return printed(SPLIT, json.dumps({**dict.fromkeys(SHARES, 0.0), **shares}))


def test_every_kind_of_arena_and_the_worms_have_visitors() -> None:
    assert {*printed(KINDS), "worms"} == {"robots", *SHARES}


def test_who_has_no_other_share_plays_with_robots() -> None:
    assert split() == {"Robots": 1.0}
    found = split(text=0.25, voice=0.125, worms=0.5)
    assert found == {"Texts": 0.25, "Calls": 0.125, "Worms": 0.5, "Robots": pytest.approx(0.125)}
