"""Starts a bundled episode store for commands that need one while no arena is running."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator

from vlaarena import bundled
from vlaarena.supervisor.child import launched
from vlaarena.supervisor.folder import DataFolder, FolderBusy, Running
from vlaarena.supervisor.logs import private

WANT_EPISODES = {"play", "verify", "backup", "restore"}
LOCK_WITHIN_S = 60.0


def wants_episodes(arguments: list[str]) -> bool:
    """Whether this command line (without the program's name) needs an episode store, and MONGO_URL names none."""
    asks_for_help = {"-h", "--help"} & set(arguments)
    return bool(arguments) and arguments[0] in WANT_EPISODES and not asks_for_help and not os.environ.get("MONGO_URL")


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
