"""What was published and found so far is the robots'."""

from django.db import migrations
from django.db.models import Exists, OuterRef

ROBOTS = "robots"
COLUMNS = ("board", "ratings", "last_voted_at", "last_vote_id", "stale")


def fill(apps, schema_editor):
    rows = {name: apps.get_model("rankings", name).objects for name in ("Snapshot", "Finding")}
    rows["Snapshot"].update(kind=ROBOTS)
    rows["Finding"].update(arena=ROBOTS)
    old, new = (apps.get_model("rankings", name).objects for name in ("ClassicEloOfRobots", "ClassicElo"))
    new.bulk_create(new.model(kind=ROBOTS, **row) for row in old.values(*COLUMNS))


def only_robots(apps, schema_editor):
    """What other kinds have has no place in an earlier release."""
    rows = {name: apps.get_model("rankings", name).objects for name in ("Snapshot", "Finding")}
    rows["Snapshot"].exclude(kind=ROBOTS).delete()
    rows["Finding"].exclude(arena__in=(ROBOTS, "")).delete()
    named = rows["Finding"].filter(arena=ROBOTS, kind=OuterRef("kind"), subject=OuterRef("subject"))
    rows["Finding"].filter(Exists(named), arena="").delete()
    old, new = (apps.get_model("rankings", name).objects for name in ("ClassicEloOfRobots", "ClassicElo"))
    old.bulk_create(old.model(**row) for row in new.filter(kind=ROBOTS).values(*COLUMNS))


def open_days(apps, schema_editor):
    """Copies, which the next aggregation makes anew."""
    apps.get_model("rankings", "ClosedDay").objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [("rankings", "0011_kind_of_publications_and_findings")]

    operations = [migrations.RunPython(fill, only_robots), migrations.RunPython(open_days, open_days)]
