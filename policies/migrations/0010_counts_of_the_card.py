from django.db import migrations, models


def counts(card):
    suite = (card.get("measured") or {}).get("table")
    tasks = suite.get("tasks", {}).values() if isinstance(suite, dict) else ()
    return {
        "measured_successes": sum(row["successes"] for row in tasks),
        "measured_episodes": sum(row["episodes"] for row in tasks),
    }


def fill(apps, schema_editor):
    policies = apps.get_model("policies", "Policy").objects.using(schema_editor.connection.alias)
    for pk, card in policies.exclude(card={}).values_list("pk", "card"):
        policies.filter(pk=pk).update(**counts(card))


class Migration(migrations.Migration):
    dependencies = [
        ("policies", "0009_worlds_that_a_policy_fits"),
    ]

    operations = [
        migrations.AddField(
            model_name="policy",
            name="measured_episodes",
            field=models.PositiveIntegerField(db_default=0, default=0, editable=False),
        ),
        migrations.AddField(
            model_name="policy",
            name="measured_successes",
            field=models.PositiveIntegerField(db_default=0, default=0, editable=False),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
