#!/usr/bin/env python
"""Django's command line for VLA Arena."""

import argparse
import contextlib
import os
import sys
from pathlib import Path
from typing import NoReturn


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vlaarena.settings")
    if sys.argv[1:2] == ["rate"]:
        rate()
        return
    if sys.argv[1:2] == ["up"]:
        up()
        return
    from django.core.management import execute_from_command_line

    from vlaarena import standalone
    from vlaarena.bundled import BundledServerMissing
    from vlaarena.supervisor.folder import DataFolder, FolderBusy

    folder = Path(os.environ.get("ARENA_DATA") or Path(__file__).resolve().parent / "var")
    with contextlib.ExitStack() as stack:
        try:
            if standalone.wants_database(sys.argv[1:], folder):
                standalone.prepare(__file__, folder)
            if standalone.wants_episodes(sys.argv[1:]):
                stack.enter_context(standalone.episode_store(DataFolder(folder)))
        except (standalone.NotPrepared, FolderBusy, BundledServerMissing) as error:
            sys.exit(f"CommandError: {error}")
        execute_from_command_line(sys.argv)


def up() -> None:
    """Start the arena without loading any app here: the supervisor needs none, and runs as long as the arena."""
    from vlaarena.management.commands.up import Command

    Command().run_from_argv(sys.argv)


def rate() -> None:
    """Rate a file of votes without Django, whose start would take as long as the rating."""
    # The matrices are small: several threads cost more than they save.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from rankings.files import rating_file
    from rankings.fit.ratings import Options
    from vlaarena.ranking_rules import RANKING

    usual = Options.of(RANKING)
    parser = argparse.ArgumentParser(prog="manage.py rate", description=rating_file.HELP)
    rating_file.add_arguments(parser, usual)
    status = 0
    try:
        for line in rating_file.printed(parser.parse_args(sys.argv[2:]), usual):
            print(line)
    except rating_file.REFUSALS as error:
        print(f"CommandError: {error}", file=sys.stderr)
        status = 1
    leave(status)


def leave(status: int) -> NoReturn:
    """End the process here. At an ordinary end the static objects of C++ libraries are destroyed while pyarrow's
    threads still run, which has aborted the process after a complete answer (2 of 2,200 runs)."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
