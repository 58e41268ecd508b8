"""Commands of the built image as containers run them: its files read-only, an unprivileged user, no capability."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil

BASE_DIR = Path(__file__).resolve().parents[2]
IMAGE = BASE_DIR / "build" / "image"
ROOT, CONFIG = IMAGE / "root", IMAGE / "config.json"
USER, WRITABLE = 10001, "/tmp"  # noqa: S108 - of the container


class Image:
    """What `scripts/image.sh` has left in build/image."""

    def __init__(self) -> None:
        if not CONFIG.exists() or not ROOT.is_dir():
            raise SystemExit("no image in build/image; run `make image` first")
        found: dict[str, Any] = json.loads(CONFIG.read_text())["OCIv1"]["config"]
        self.environment = dict(each.split("=", 1) for each in found["Env"])
        self.command: list[str] = found["Cmd"]
        if found.get("User") != str(USER):
            raise SystemExit(f"the image runs as {found.get('User')!r}; expected {USER}")

    @property
    def size_mb(self) -> int:
        return int(subprocess.check_output(["du", "-sm", str(ROOT)], text=True).split()[0])

    def start(self, command: list[str], environment: Mapping[str, str], log: Path) -> Container:
        """Start a command of the image, with /tmp as the only place that takes writes, and the host's network."""
        inside = ["bwrap", "--ro-bind", str(ROOT), "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", WRITABLE]
        inside += ["--unshare-user", "--uid", str(USER), "--gid", str(USER), "--unshare-pid", "--unshare-ipc"]
        inside += ["--unshare-uts", "--new-session", "--die-with-parent", "--chdir", "/arena", "--clearenv"]
        for name, value in {**self.environment, **environment}.items():
            inside += ["--setenv", name, value]
        with log.open("wb") as out:
            process = subprocess.Popen([*inside, "--", *command], stdout=out, stderr=out, stdin=subprocess.DEVNULL)
        return Container(process, log)

    def run(self, command: list[str], environment: Mapping[str, str], log: Path) -> str:
        """Run a command to its end; answers what it printed. Raises SystemExit if it fails."""
        done = self.start(command, environment, log)
        if done.process.wait(900):
            raise SystemExit(f"{' '.join(command)} failed:\n{log.read_text()[-3000:]}")
        return log.read_text()


class Container:
    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process, self.log = process, log

    @property
    def memory_mb(self) -> float:
        """The proportional set size of all its processes, which counts shared pages once."""
        own = psutil.Process(self.process.pid)
        return sum(each.memory_full_info().pss for each in [own, *own.children(recursive=True)]) / 1e6

    def check(self) -> None:
        """Raises SystemExit with the end of its log if it has ended."""
        if self.process.poll() is not None:
            raise SystemExit(f"it ended with {self.process.returncode}:\n{self.log.read_text()[-3000:]}")

    def stop(self) -> None:
        for each in psutil.Process(self.process.pid).children(recursive=True) if self.process.poll() is None else ():
            with contextlib.suppress(psutil.NoSuchProcess):
                each.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
