"""Folders in which files of games appear."""

from __future__ import annotations

import contextlib
import logging
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings

from wormarena.ingestion import demo
from wormarena.ingestion.ledger import FILES, Report, ingest
from wormarena.models import Game

log = logging.getLogger(__name__)
State = tuple[int, int]
"""Size [bytes] and time of the last change [ns]."""


def posted_folder() -> Path:
    """Where files lie that operators handed in."""
    return Path(settings.DATA_DIR) / "wormarena"


def folders() -> list[Path]:
    """All folders of this arena's games that are there, that of the demonstration's included."""
    shown = [demo.FOLDER] if settings.WORMARENA_DEMO else []
    return [path for path in (Path(settings.WORMARENA_FOLDER), posted_folder(), *shown) if path.is_dir()]


@dataclass
class Watch:
    """What was seen of one folder. A file is looked at again when it changes, as one that was half written does."""

    folder: Path
    _seen: dict[str, State] = field(default_factory=dict)

    def look(self) -> Report:
        """Take in what is new or has changed since the last look."""
        states = _states(self.folder)
        if not self._seen:
            self._seen = self._known(states)
        fresh = {path: state for path, state in states.items() if self._seen.get(path) != state}
        report = ingest(map(Path, sorted(fresh)))
        self._seen |= fresh
        for path, why in report.refused.items():
            log.warning("refused %s: %s", path, why)
        return report

    def _known(self, states: dict[str, State]) -> dict[str, State]:
        """Those in the database already, which need not be read when a process begins to watch."""
        games = set(Game.objects.filter(replay_path__startswith=str(self.folder)).values_list("replay_path", flat=True))
        return {path: state for path, state in states.items() if path in games}


def _states(folder: Path) -> dict[str, State]:
    found: dict[str, State] = {}
    for path in folder.resolve().glob(FILES):
        with contextlib.suppress(FileNotFoundError):  # it went away meanwhile
            status = path.stat()
            found[str(path)] = (status.st_size, status.st_mtime_ns)
    return found


WATCHES: dict[Path, Watch] = {}
"""Of this process."""


def look_everywhere() -> Report:
    """What the periodic task does: look at the watched folder and at what operators handed in."""
    report = Report()
    for folder in (Path(settings.WORMARENA_FOLDER), posted_folder()):
        if folder.is_dir():
            each = WATCHES.setdefault(folder, Watch(folder)).look()
            report.new, report.known = report.new + each.new, report.known + each.known
            report.refused |= each.refused
    return report
