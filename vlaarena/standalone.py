"""What commands need while no arena is running: a bundled episode store, and a prepared database."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from vlaarena import bundled
from vlaarena.supervisor.child import launched
from vlaarena.supervisor.folder import PRIVATE_FOLDER, DataFolder, FolderBusy, Running
from vlaarena.supervisor.logs import private

WANT_EPISODES = {
    "backup",
    "export_bundle",
    "export_lerobot",
    "export_preferences",
    "play",
    "restore",
    "verify",
    "write_dump",
}
WANT_DATABASE = {
    *("add_policy", "backup", "call", "changepassword", "createsuperuser", "expire_episodes", "export_bundle"),
    *("export_lerobot", "export_preferences", "export_votes", "policies", "rebuild_rankings", "second_factor"),
    *("seed_load", "seed_policies", "seed_roles", "seed_schedule", "sweep", "write_dump"),
}
LOCK_WITHIN_S = 60.0


class NotPrepared(Exception):
    """A new database could not be migrated or seeded."""


def wants_episodes(arguments: list[str]) -> bool:
    """Whether this command line (without the program's name) needs an episode store, and MONGO_URL names none."""
    asks_for_help = {"-h", "--help"} & set(arguments)
    return bool(arguments) and arguments[0] in WANT_EPISODES and not asks_for_help and not os.environ.get("MONGO_URL")


def wants_database(arguments: list[str], folder: Path) -> bool:
    """Whether this command line reads the database, which is the folder's own and was never prepared."""
    asks_for_help = {"-h", "--help"} & set(arguments)
    own = not os.environ.get("DATABASE_URL") and not (folder / "arena.sqlite3").exists()
    return bool(arguments) and arguments[0] in WANT_DATABASE and not asks_for_help and own


def prepare(manage: str, folder: Path) -> None:
    """Migrate and seed the database of a new folder. What it prints goes to stderr: stdout is the command's own."""
    print(f"preparing a new database in {folder}", file=sys.stderr)
    try:
        folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    except OSError as error:
        raise NotPrepared(f"the data folder cannot be made: {error}") from error
    command = [sys.executable, manage, "prepare", "--verbosity", "0"]
    if subprocess.run(command, stdout=sys.stderr, check=False, umask=0o077).returncode:
        raise NotPrepared(f"the database in {folder} could not be prepared; see above")


@contextlib.contextmanager
def episode_store(folder: DataFolder) -> Iterator[None]:
    """Provide an episode store: that of the arena running on the folder, or one started for this command."""
    with contextlib.ExitStack() as stack:
        if _own(folder, stack):
            stack.enter_context(_started_store(folder))
        yield


def _own(folder: DataFolder, stack: contextlib.ExitStack) -> bool:
    """Lock the folder until the stack closes, waiting for other commands. False if an arena runs on the folder."""
    deadline = time.monotonic() + LOCK_WITHIN_S
    while True:
        try:
            stack.enter_context(folder.locked())
        except FolderBusy:
            running = folder.running()
            if running and running.url:
                return False
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return True


@contextlib.contextmanager
def _started_store(folder: DataFolder) -> Iterator[None]:
    folder.end_orphans()
    port = bundled.free_port()
    password = folder.password("mongo")
    command = bundled.secantus_command(folder.path / "mongo", port, password)
    log = folder.fresh_log("mongo")
    with open(log, "wb", opener=private) as output:
        store = subprocess.Popen(
            launched(command),
            env=folder.marked(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        if not bundled.wait_for(port):
            raise FolderBusy(f"the episode store did not start; see {log}")
        os.environ["MONGO_URL"] = bundled.mongo_url(port, password)
        folder.announce(Running(pid=os.getpid(), urls={"MONGO_URL": os.environ["MONGO_URL"]}))
        yield
    finally:
        store.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            store.wait(5)
        store.kill()
        store.wait()
