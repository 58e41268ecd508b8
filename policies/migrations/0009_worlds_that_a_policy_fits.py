import django.db.models.deletion
from django.db import migrations, models

# The only robot and scene of the releases before this one. `seed_policies` compares with the whole catalogue.
WORLD = {"robot_id": "widowx", "scene_id": "table"}
ACTION_SPACE, RATE_HZ, CAMERAS, LARGEST = "eef_delta_bridge7", 5, ("workspace", "front", "side", "top"), 640


def fits(card):
    cameras = card.get("cameras") or []
    return (card.get("action_space"), card.get("rate_hz")) == (ACTION_SPACE, RATE_HZ) and all(
        camera["name"] in CAMERAS and max(camera["height"], camera["width"]) <= LARGEST for camera in cameras
    )


def fill(apps, schema_editor):
    policies = apps.get_model("policies", "Policy").objects.using(schema_editor.connection.alias)
    worlds = apps.get_model("policies", "PolicyWorld").objects.using(schema_editor.connection.alias)
    cards = policies.values_list("pk", "card")
    worlds.bulk_create(worlds.model(policy_id=pk, **WORLD) for pk, card in cards if fits(card))


class Migration(migrations.Migration):
    dependencies = [
        ("policies", "0008_policies_are_contestants"),
    ]

    operations = [
        migrations.CreateModel(
            name="PolicyWorld",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("robot_id", models.CharField(max_length=50)),
                ("scene_id", models.CharField(max_length=50)),
                (
                    "policy",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="worlds", to="policies.policy"
                    ),
                ),
            ],
            options={
                "db_table": "policy_worlds",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("policy", "robot_id", "scene_id"), name="one_row_per_policy_and_world"
                    )
                ],
            },
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
