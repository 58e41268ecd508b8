"""The settings of the site, on servers and folders that belong to this test run alone.

Real servers from the environment (DATABASE_URL, MONGO_URL, BROKER_URL, CHANNEL_URL) are used as they are given; for the
others a free port is chosen here and `tests.servers` starts the bundled server on it.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from pathlib import Path

from tests import servers

RUN_ID = secrets.token_hex(4)
RUN_DIR = Path(tempfile.mkdtemp(prefix=f"vla-arena-test-{RUN_ID}-"))
servers.choose_addresses(RUN_DIR)

os.environ["ARENA_DATA"] = str(RUN_DIR)
os.environ["ARENA_SECRET_KEY"] = secrets.token_hex(32)
# Names of this run only, so that a shared server keeps what others stored there.
os.environ["ARENA_PREFIX"] = f"test-{RUN_ID}-"
os.environ["MONGO_DATABASE"] = f"vla_arena_test_{RUN_ID}"
os.environ.setdefault("ARENA_LIBERO", "")  # the same tests everywhere; tests/libero has those that need it
os.environ.setdefault("MUJOCO_GL", "osmesa")
os.environ.setdefault("LP_NUM_THREADS", "0")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # as workers have it: what runs side by side shares the cores

from vlaarena.settings import *  # noqa: E402, F403
from vlaarena.settings import ALLOWED_HOSTS, DATABASES, INSTALLED_APPS, STORAGES  # noqa: E402

if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["TEST"] = {"NAME": str(RUN_DIR / "test.sqlite3")}  # a file, so that threads share it
    # It need not outlive a power cut. Arenas that tests start are synced as they ship.
    start_with = DATABASES["default"]["OPTIONS"]["init_command"]
    DATABASES["default"]["OPTIONS"]["init_command"] = start_with.replace("synchronous=FULL", "synchronous=OFF")
else:
    DATABASES["default"]["TEST"] = {"NAME": f"vla_arena_test_{RUN_ID}"}

ALLOWED_HOSTS = [*ALLOWED_HOSTS, "testserver"]
KINDS = ["robots", "text"]  # here, and not in the environment: arenas that tests start are as they ship
INSTALLED_APPS = [*INSTALLED_APPS, "tests.echo", "tests.coin"]  # kinds beside which every test of the first runs
TASKS_CHECK_S = float("inf")  # tests of published tasks refresh themselves
REPEAT_SHARE = 0.0  # by chance a test would play another battle than the one it opened
# Turns are told as soon as they have settled; tests about what the clock hides use the defaults (tests.arena.clock).
RELEASE = {"buffer_s": 0.0, "speed": 1e6}
RATE_LIMITS: dict[str, object] = {}  # a run plays in minutes, from one address, what visitors do in days
ACCOUNT_RATE_LIMITS = MFA_RATE_LIMITS = False  # the same of accounts: tests.people turns them on where it is about them
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Unhashed names: pages render in tests without collectstatic.
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
STATIC_ROOT = RUN_DIR / "static"  # not what `make install` builds, which may be rebuilt meanwhile
STATIC_ROOT.mkdir()
