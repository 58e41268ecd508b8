"""A host whose clock jumps: the wall clock of an arena's processes. Monotonic clocks go on, as they do when a clock is
set. The servers keep the true time, like other hosts.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("clock.c")


class Clock:
    """`environment`: for processes that shall live by this clock. Needs a C compiler."""

    def __init__(self, folder: Path) -> None:
        self._file, library = folder / "clock", folder / "clock.so"
        self._file.write_bytes(bytes(8))
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(SOURCE)], check=True)
        self.environment = {"LD_PRELOAD": str(library), "SHIFTED_CLOCK": str(self._file)}

    def set(self, ahead_s: int) -> None:
        """So many seconds ahead of the true time, for all of them at once; negative: behind."""
        with self._file.open("r+b") as file:
            file.write(ahead_s.to_bytes(8, "little", signed=True))
