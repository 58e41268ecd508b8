import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("arena", "0006_expired_recordings"),
        ("policies", "0004_ids_begin_with_a_letter_or_digit"),
    ]

    operations = [
        migrations.AlterField(
            model_name="vote",
            name="left_model",
            field=models.ForeignKey(
                db_column="left_model_id",
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="votes_left",
                to="policies.policy",
            ),
        ),
        migrations.AlterField(
            model_name="vote",
            name="right_model",
            field=models.ForeignKey(
                db_column="right_model_id",
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="votes_right",
                to="policies.policy",
            ),
        ),
        migrations.AddIndex(
            model_name="vote",
            index=models.Index(fields=["left_model", "voted_at"], name="newest_votes_of_left_model"),
        ),
        migrations.AddIndex(
            model_name="vote",
            index=models.Index(fields=["right_model", "voted_at"], name="newest_votes_of_right_model"),
        ),
    ]
