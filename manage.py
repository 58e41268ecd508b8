#!/usr/bin/env python
"""Django's command line for VLA Arena."""

import argparse
import contextlib
import os
import sys
from pathlib import Path


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vlaarena.settings")
    if sys.argv[1:2] == ["rate"]:
        rate()
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
    try:
        for line in rating_file.printed(parser.parse_args(sys.argv[2:]), usual):
            print(line)
    except rating_file.REFUSALS as error:
        sys.exit(f"CommandError: {error}")


if __name__ == "__main__":
    main()
