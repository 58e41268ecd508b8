"""Logs of the parts are set aside when they are large, and no line is lost or cut."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from vlaarena.supervisor.child import Child, ChildSpec
from vlaarena.supervisor.folder import DataFolder
from vlaarena.supervisor.logs import Log, set_aside


def files(folder: Path) -> list[Path]:
    """The log and the earlier ones, the earliest first."""
    return sorted(folder.glob("web.log*"), key=lambda path: -int(path.suffix[1:]) if path.suffix != ".log" else 1)


def written(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in files(folder))


def test_lines_go_on_in_a_new_file_and_none_is_lost_or_cut(tmp_path: Path) -> None:
    text = b"".join(b"line %d %s\n" % (number, b"x" * (number % 90)) for number in range(2000))
    with Log(tmp_path / "web.log", most_bytes=4000, kept=100) as log:
        for start in range(0, len(text), 777):
            log.write(text[start : start + 777])
    assert written(tmp_path) == text
    assert len(files(tmp_path)) > 20
    for path in files(tmp_path)[:-1]:
        assert path.read_bytes().endswith(b"\n")
        assert 4000 <= path.stat().st_size < 4000 + 200


def test_only_so_many_are_kept_and_they_are_the_last(tmp_path: Path) -> None:
    text = b"".join(b"%06d\n" % number for number in range(10_000))
    with Log(tmp_path / "web.log", most_bytes=7000, kept=3) as log:
        log.write(text)
    assert [path.name for path in files(tmp_path)] == ["web.log.3", "web.log.2", "web.log.1", "web.log"]
    assert text.endswith(written(tmp_path))
    assert sum(path.stat().st_size for path in files(tmp_path)) <= 4 * 7000


def test_what_never_ends_a_line_is_bounded_too(tmp_path: Path) -> None:
    with Log(tmp_path / "web.log", most_bytes=1000, kept=2) as log:
        for _ in range(100):
            log.write(b"x" * 333)
    assert all(path.stat().st_size <= 2000 for path in files(tmp_path))


def test_a_log_that_is_opened_again_goes_on_where_it_was(tmp_path: Path) -> None:
    for _ in range(3):
        with Log(tmp_path / "web.log", most_bytes=2000, kept=2) as log:
            log.write(b"y" * 399 + b"\n")
    assert [path.stat().st_size for path in files(tmp_path)] == [1200]


def test_what_a_full_disk_did_not_take_is_told_as_soon_as_there_is_room(tmp_path: Path) -> None:
    log = Log(Path("/dev/full"))
    log.write(b"lost\n" * 10)
    log._file.close()
    log._file = (tmp_path / "web.log").open("ab", buffering=0)
    with log:
        log.write(b"kept\n")
    assert (tmp_path / "web.log").read_bytes() == b"\n[50 bytes of this log found no room]\nkept\n"


def test_a_log_that_cannot_be_made_keeps_nothing_and_raises_nothing(tmp_path: Path) -> None:
    with Log(tmp_path / "missing" / "web.log") as log:
        log.write(b"x\n")


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with Log(tmp_path / "web.log", most_bytes=10, kept=2) as log:
            log.write(b"0123456789\n0\n")
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in files(tmp_path)} == {0o600}


def test_each_start_sets_the_log_of_the_one_before_aside(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    for number in range(8):
        folder.fresh_log("web").write_text(str(number))
    set_aside(tmp_path / "log" / "web.log")
    assert written(tmp_path / "log") == b"34567"


async def test_the_log_of_a_part_is_bounded_while_it_runs(tmp_path: Path) -> None:
    talks = "import sys; [print(f'{n:09}') for n in range(3_000_000)]"
    spec = ChildSpec("web", [sys.executable, "-c", talks], grace_s=1.0)
    child = Child(spec, environment=dict(os.environ), folder=tmp_path, log=tmp_path / "web.log")
    await child.start()
    assert await asyncio.wait_for(child.wait(), 60) == 0
    assert written(tmp_path) == b"".join(b"%09d\n" % number for number in range(3_000_000))
    assert [round(path.stat().st_size / 1e6) for path in files(tmp_path)] == [10, 10, 10, 0]
