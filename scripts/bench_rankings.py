"""The rankings' part of `make bench`: on a new database in ARENA_DATA, through all of Django's middleware.

In a process of its own, since settings are read once. Prints one JSON object.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ["DJANGO_SETTINGS_MODULE"] = "vlaarena.settings"


def main() -> None:
    import django

    django.setup()
    from django.core.management import call_command

    from rankings.bench import measure

    call_command("migrate", verbosity=0)
    print(json.dumps({name: asdict(timing) for name, timing in measure().items()}))


if __name__ == "__main__":
    main()
