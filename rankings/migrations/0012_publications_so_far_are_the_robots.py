"""What was published and found so far is the robots'."""

from django.db import migrations
from django.db.models import Exists, F, OuterRef, Value
from django.db.models.functions import Concat, Length, Substr

ROBOTS = "robots"
PREFIX = f"{ROBOTS}/"


def fill(apps, schema_editor):
    rows = {name: apps.get_model("rankings", name).objects for name in ("Snapshot", "Finding", "ClassicElo")}
    rows["Snapshot"].update(kind=ROBOTS)
    rows["Finding"].update(arena=ROBOTS)
    rows["ClassicElo"].update(board=Concat(Value(PREFIX), F("board")))


def only_robots(apps, schema_editor):
    """What other kinds have has no place in an earlier release."""
    rows = {name: apps.get_model("rankings", name).objects for name in ("Snapshot", "Finding", "ClassicElo")}
    rows["Snapshot"].exclude(kind=ROBOTS).delete()
    rows["Finding"].exclude(arena__in=(ROBOTS, "")).delete()
    named = rows["Finding"].filter(arena=ROBOTS, kind=OuterRef("kind"), subject=OuterRef("subject"))
    rows["Finding"].filter(Exists(named), arena="").delete()
    rows["ClassicElo"].exclude(board__startswith=PREFIX).delete()
    rows["ClassicElo"].update(board=Substr("board", len(PREFIX) + 1, Length("board")))


def open_days(apps, schema_editor):
    """Copies, which the next aggregation makes anew."""
    apps.get_model("rankings", "ClosedDay").objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [("rankings", "0011_kind_of_publications_and_findings")]

    operations = [migrations.RunPython(fill, only_robots), migrations.RunPython(open_days, open_days)]
