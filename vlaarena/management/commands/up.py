"""`manage.py up`: the whole arena in one go, until Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import os
import re
import socket
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError

from texts.embedded import CannotServe
from vlaarena import env
from vlaarena.bundled import BundledServerMissing
from vlaarena.supervisor import plan
from vlaarena.supervisor.folder import DataFolder, FolderBusy, Running
from vlaarena.supervisor.watch import Supervisor, SupervisorError

BACKLOG = 512
"""Connections that may wait to be accepted on the socket that several web processes share."""


class Command(BaseCommand):
    help = (
        "Start every part of the arena: bundled servers where no URL names one, migrations, Celery worker, beat, web. "
        "ARENA_PORT (8000) and ARENA_DATA (./var) place it."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object when ready")

    def handle(self, *args: Any, **options: Any) -> None:
        self.as_json = bool(options["json"])
        folder = DataFolder(settings.DATA_DIR)
        try:
            with folder.locked(), plan.shared_counts(_web_processes()) as counts:
                asyncio.run(self._run(folder, counts))
        except (FolderBusy, SupervisorError, BundledServerMissing) as error:
            raise CommandError(str(error)) from error

    async def _run(self, folder: DataFolder, counts: Mapping[str, str]) -> None:
        host, port = env.text("ARENA_BIND", "127.0.0.1"), int(env.number("ARENA_PORT", 8000))
        for pid in folder.end_orphans():
            self._say(f"ended process {pid}, left behind by an earlier start")
        _refuse_taken_port(host, port)
        if plan.VOICE in settings.KINDS and _can_speak():
            _refuse_taken_port(host, settings.VOICE["port"], "ARENA_VOICE_PORT")
        _refuse_unbuilt()
        folder.secret_key()
        web_processes = _web_processes()
        servers = plan.bundled_servers(folder, os.environ, web_processes)
        _refuse_unshared_limits(web_processes, servers.urls)
        self._add_language_server(servers, folder)
        running = Running(pid=os.getpid(), url=f"http://{host}:{port}/", urls=servers.urls)
        environment = plan.child_environment(folder, {**servers.urls, **counts})
        supervisor = Supervisor(
            folder, settings.BASE_DIR, environment, running, say=self._say, tell_ready=self._tell_ready
        )
        with _listening(host, port, web_processes) as listening:
            await supervisor.run(
                servers=servers.specs,
                loader=plan.loader(listening),
                prepare=plan.prepare(),
                parts=partial(
                    plan.parts,
                    queues=settings.QUEUES,
                    worker_processes=int(env.number("ARENA_WORKERS", 2)),
                    worker_niceness=int(env.number("ARENA_WORKER_NICENESS", plan.WORKER_NICENESS)),
                    drawing_niceness=int(env.number("ARENA_DRAWING_NICENESS", plan.DRAWING_NICENESS)),
                    host=host,
                    port=port,
                    web_processes=web_processes,
                    socket=listening,
                ),
                # A host name that the site accepts: the first without a wildcard.
                health_host=next((name for name in settings.ALLOWED_HOSTS if name[0] not in "*."), "localhost"),
            )

    def _add_language_server(self, servers: plan.Servers, folder: DataFolder) -> None:
        """Unless text is turned off, or the model cannot run here: then say why there is none."""
        if plan.TEXT not in (settings.CHOSEN_KINDS or [plan.TEXT]) or settings.TEXT["embedded_url"]:
            return
        try:
            found = plan.language_server(folder)
        except CannotServe as reason:
            self._say(f"no language model runs beside the arena: {reason}")
            return
        servers.specs += found.specs
        servers.urls |= found.urls

    def _say(self, line: str) -> None:
        """Write progress to stderr: stdout is for the line that programs wait for."""
        self.stderr.write(line, ending="\n", style_func=str)

    def _tell_ready(self, running: Running) -> None:
        sys.stdout.write(json.dumps(_without_passwords(running)) if self.as_json else f"ready {running.url}")
        sys.stdout.write("\n")
        sys.stdout.flush()


def _without_passwords(running: Running) -> dict[str, Any]:
    """What may appear on a terminal. Other commands read the passwords from the data folder."""
    return {**asdict(running), "urls": {name: re.sub(r":[^:/@]*@", ":***@", url) for name, url in running.urls.items()}}


def _can_speak() -> bool:
    from voice.speech.installed import missing  # loads numpy

    return not missing()


def _refuse_taken_port(host: str, port: int, variable: str = "ARENA_PORT") -> None:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise SupervisorError(f"port {port} is taken; name a free one: {variable}=8080 make run") from None
            raise SupervisorError(f"cannot listen on {host} port {port} (ARENA_BIND, {variable}): {error}") from None


def _web_processes() -> int:
    try:
        return env.count("ARENA_WEB_PROCESSES", 1)
    except ImproperlyConfigured as error:
        raise SupervisorError(str(error)) from None


def _refuse_unshared_limits(web_processes: int, started: Mapping[str, str]) -> None:
    """Without a shared cache each web process would grant every visitor the full limits."""
    if web_processes > 1 and not (os.environ.get("CACHE_URL") or started.get("CACHE_URL")):
        raise SupervisorError(
            f"{web_processes} web processes need a cache that they share to count what visitors do; name one: "
            "CACHE_URL=redis://..."
        )


@contextlib.contextmanager
def _listening(host: str, port: int, web_processes: int) -> Iterator[int | None]:
    """The file descriptor of an open socket for several web processes; None for one process, which opens its own."""
    if web_processes == 1:
        yield None
        return
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family, backlog=BACKLOG) as listening:
        yield listening.fileno()


def _refuse_unbuilt() -> None:
    """Report a missing build now instead of serving broken pages."""
    for what, place in {"static files": settings.STATIC_ROOT, "scenes": settings.SCENE_BUNDLES}.items():
        if not Path(place).is_dir():
            raise SupervisorError(f"the {what} are not built ({place} is missing); run: make install")
