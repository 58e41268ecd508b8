from typing import Any

from django.db import migrations, models


def throw_copies_away(apps: Any, schema_editor: Any) -> None:
    """The aggregation makes them anew, whichever way this goes."""
    apps.get_model("rankings", "ClosedDay").objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [
        ("rankings", "0008_networks_trust_and_campaigns"),
    ]

    operations = [
        migrations.RunPython(throw_copies_away, migrations.RunPython.noop),
        migrations.RemoveField(
            model_name="closedday",
            name="seen",
        ),
        migrations.AddField(
            model_name="closedday",
            name="facts",
            field=models.BinaryField(
                default=b"", help_text="A row per vote whose battle was played, as an Arrow stream."
            ),
            preserve_default=False,
        ),
        migrations.RunPython(migrations.RunPython.noop, throw_copies_away),
    ]
