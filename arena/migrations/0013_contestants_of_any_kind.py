"""The registry moves from `policies` to the core, where contestants are of any kind. Tables stay where they are.

Columns that only robots have go to a table of `policies` (policies 0007) and leave this one in 0014.
"""

import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

ROBOTS = "robots"  # all that there was
ROWS = ("Contestant", "Session", "Vote")
STATUS = [("active", "active"), ("retired", "retired"), ("unavailable", "unavailable")]
BEGINS_PLAINLY = django.core.validators.RegexValidator("\\A[A-Za-z0-9]", "An id begins with a letter or a digit.")


def to_contestant(name, related, **more):
    return models.ForeignKey(
        db_column=f"{name}_id",
        on_delete=django.db.models.deletion.PROTECT,
        related_name=related,
        to="arena.contestant",
        **more,
    )


def fill_kind(apps, schema_editor):
    for name in ROWS:
        apps.get_model("arena", name).objects.update(kind=ROBOTS)


def fill_pool(apps, schema_editor):
    """Chances were the same in every setting; a pool is named as `arena.kinds.Kind.pool` does."""
    chances = apps.get_model("arena", "PairChance").objects
    places = apps.get_model("arena", "Session").objects.values_list("setting", "scene").distinct()
    rows = list(chances.all())
    for number, place in enumerate(sorted(set(places))):
        pool = "/".join((ROBOTS, *place))
        if number == 0:
            chances.update(pool=pool)
        else:
            chances.bulk_create(
                type(row)(pool=pool, one_id=row.one_id, other_id=row.other_id, chance=row.chance) for row in rows
            )
    chances.filter(pool=None).delete()


def one_pool(apps, schema_editor):
    chances = apps.get_model("arena", "PairChance").objects
    first = chances.order_by("pool").values_list("pool", flat=True).first()
    chances.exclude(pool=first).delete()


def fill_reasons(apps, schema_editor):
    names = ("closer", "smoother", "safer", "faster")
    votes = apps.get_model("arena", "Vote").objects
    said = votes.exclude(**dict.fromkeys(names, ""))
    changed = []
    for vote in said.only("pk", *names).iterator(chunk_size=2000):
        vote.reasons = {name: getattr(vote, name) for name in names if getattr(vote, name)}
        changed.append(vote)
        if len(changed) == 2000:
            votes.bulk_update(changed, ["reasons"])
            changed = []
    votes.bulk_update(changed, ["reasons"])


def unfill_reasons(apps, schema_editor):
    votes = apps.get_model("arena", "Vote").objects
    for vote in votes.exclude(reasons={}).iterator(chunk_size=2000):
        votes.filter(pk=vote.pk).update(**vote.reasons)


def fill_sent_at(apps, schema_editor):
    """`heartbeat_at` of a queued attempt was when its message was sent; without one it was held."""
    queued = apps.get_model("arena", "Attempt").objects.filter(status="queued")
    queued.filter(heartbeat_at=None).update(status="held")
    queued.update(sent_at=models.F("heartbeat_at"), heartbeat_at=None)


def unfill_sent_at(apps, schema_editor):
    attempts = apps.get_model("arena", "Attempt").objects
    attempts.filter(status="queued").update(heartbeat_at=models.F("sent_at"))
    attempts.filter(status="held").update(status="queued")


class Migration(migrations.Migration):
    dependencies = [
        ("arena", "0012_battles_of_several_starts"),
        ("policies", "0006_what_renders_where"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="Contestant",
                    fields=[
                        (
                            "id",
                            models.SlugField(
                                max_length=255, primary_key=True, serialize=False, validators=[BEGINS_PLAINLY]
                            ),
                        ),
                        ("name", models.CharField(max_length=255)),
                        ("description", models.TextField(blank=True)),
                        ("organization", models.CharField(blank=True, max_length=255)),
                        ("license", models.CharField(blank=True, max_length=50)),
                        ("family", models.CharField(db_index=True, max_length=50)),
                        ("adapter", models.CharField(max_length=50)),
                        (
                            "model_path",
                            models.CharField(
                                blank=True, help_text="Folder of its weights; empty: it has none.", max_length=500
                            ),
                        ),
                        ("revision", models.CharField(blank=True, help_text="Hash of the weights.", max_length=64)),
                        ("provenance", models.TextField(blank=True, help_text="Who trained it, on what.")),
                        ("training_data", models.TextField(blank=True)),
                        ("source", models.CharField(blank=True, max_length=500)),
                        ("parameters", models.BigIntegerField(blank=True, null=True)),
                        ("weights_bytes", models.BigIntegerField(blank=True, null=True)),
                        ("statistics_key", models.CharField(blank=True, max_length=100)),
                        ("card", models.JSONField(blank=True, default=dict)),
                        (
                            "status",
                            models.CharField(choices=STATUS, db_index=True, default="active", max_length=20),
                        ),
                        (
                            "status_reason",
                            models.CharField(blank=True, help_text="Why it is unavailable or retired.", max_length=500),
                        ),
                        (
                            "reference",
                            models.BooleanField(
                                default=False, help_text="For tests and tooling; never drawn for a blind battle."
                            ),
                        ),
                        ("pairing_weight", models.FloatField(default=1.0)),
                        ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                    ],
                    options={"db_table": "models", "ordering": ["id"]},
                ),
                migrations.CreateModel(
                    name="Hosting",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("worker", models.CharField(max_length=200)),
                        (
                            "trouble",
                            models.CharField(
                                blank=True, help_text="Why it cannot play it; empty: it can.", max_length=500
                            ),
                        ),
                        ("device", models.CharField(blank=True, max_length=50)),
                        (
                            "slots",
                            models.PositiveIntegerField(
                                default=1, help_text="Attempts that the worker plays side by side."
                            ),
                        ),
                        (
                            "render_profile",
                            models.CharField(
                                blank=True, help_text="What renders there; empty: not said yet.", max_length=120
                            ),
                        ),
                        ("seen_at", models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                        (
                            "policy",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="hostings",
                                to="arena.contestant",
                            ),
                        ),
                    ],
                    options={
                        "db_table": "hostings",
                        "ordering": ["policy", "worker"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("worker", "policy"), name="one_hosting_per_worker_and_policy"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="PairChance",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("chance", models.FloatField()),
                        (
                            "one",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="arena.contestant"
                            ),
                        ),
                        (
                            "other",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="arena.contestant"
                            ),
                        ),
                    ],
                    options={
                        "db_table": "pair_chances",
                        "constraints": [models.UniqueConstraint(fields=("one", "other"), name="one_chance_per_pair")],
                    },
                ),
                migrations.AlterField("battle", "left_model", to_contestant("left_model", "battles_left")),
                migrations.AlterField("battle", "right_model", to_contestant("right_model", "battles_right")),
                migrations.AlterField("rollout", "model", to_contestant("model", "attempts")),
                migrations.AlterField("vote", "left_model", to_contestant("left_model", "votes_left", db_index=False)),
                migrations.AlterField(
                    "vote", "right_model", to_contestant("right_model", "votes_right", db_index=False)
                ),
            ],
        ),
        # Hosts of any kind, chances by pool.
        migrations.RemoveConstraint("hosting", "one_hosting_per_worker_and_policy"),
        migrations.AlterModelOptions("hosting", {"ordering": ["contestant", "worker"]}),
        migrations.RenameField("hosting", "policy", "contestant"),
        migrations.AddConstraint(
            "hosting",
            models.UniqueConstraint(fields=["worker", "contestant"], name="one_hosting_per_worker_and_contestant"),
        ),
        # What a rollout shares with every attempt; what only robots have follows in robots 0001.
        migrations.RenameModel("Rollout", "Attempt"),
        migrations.RenameModel("TurnLine", "AdmissionLock"),
        migrations.AlterField("attempt", "attempt", models.PositiveIntegerField(db_column="attempt", default=0)),
        migrations.RenameField("attempt", "attempt", "tries"),
        migrations.AlterField("attempt", "steps_done", models.PositiveIntegerField(db_column="steps_done", default=0)),
        migrations.RenameField("attempt", "steps_done", "length"),
        migrations.AlterField(
            "attempt",
            "turn",
            models.ForeignKey(
                db_column="turn_id",
                on_delete=django.db.models.deletion.PROTECT,
                related_name="attempts",
                to="arena.turn",
                to_field="turn_id",
            ),
        ),
        migrations.AlterField(
            "attempt",
            "status",
            models.CharField(
                choices=[
                    ("held", "held"),
                    ("queued", "queued"),
                    ("running", "running"),
                    ("completed", "completed"),
                    ("failed", "failed"),
                ],
                db_index=True,
                default="queued",
                max_length=20,
            ),
        ),
        migrations.AddField("attempt", "sent_at", models.DateTimeField(blank=True, null=True)),
        migrations.RunPython(fill_sent_at, unfill_sent_at),
        # Kind and place of sessions and votes.
        *(
            operation
            for model, indexed in (("session", False), ("vote", True))
            for operation in (
                migrations.AlterField(
                    model, "robot_id", models.CharField(db_column="robot_id", db_index=indexed, max_length=50)
                ),
                migrations.RenameField(model, "robot_id", "setting"),
                migrations.AlterField(
                    model,
                    "scene_id",
                    models.CharField(blank=True, db_column="scene_id", db_index=indexed, max_length=50),
                ),
                migrations.RenameField(model, "scene_id", "scene"),
            )
        ),
        *(
            migrations.AddField(model, "kind", models.CharField(max_length=20, null=True))
            for model in ("contestant", "session", "vote")
        ),
        migrations.RunPython(fill_kind, migrations.RunPython.noop),
        migrations.AlterField(
            "contestant",
            "kind",
            models.CharField(db_index=True, editable=False, help_text="As `arena.kinds` knows it.", max_length=20),
        ),
        migrations.AlterField(
            "session", "kind", models.CharField(help_text="As `arena.kinds` knows it.", max_length=20)
        ),
        migrations.AlterField("vote", "kind", models.CharField(max_length=20)),
        migrations.RemoveConstraint("pairchance", "one_chance_per_pair"),
        migrations.AddField("pairchance", "pool", models.CharField(max_length=150, null=True)),
        migrations.RunPython(fill_pool, one_pool),
        migrations.AlterField("pairchance", "pool", models.CharField(max_length=150)),
        migrations.AddConstraint(
            "pairchance",
            models.UniqueConstraint(fields=["pool", "one", "other"], name="one_chance_per_pool_and_pair"),
        ),
        # Respects are the kind's.
        migrations.AddField(
            "vote",
            "reasons",
            models.JSONField(
                blank=True,
                default=dict,
                help_text="Respect -> which side was better in it; respects are the kind's.",
            ),
        ),
        migrations.RunPython(fill_reasons, unfill_reasons),
        *(migrations.RemoveField("vote", name) for name in ("closer", "smoother", "safer", "faster")),
    ]
