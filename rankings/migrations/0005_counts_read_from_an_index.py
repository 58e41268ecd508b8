import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("policies", "0004_ids_begin_with_a_letter_or_digit"),
        ("rankings", "0004_publications"),
    ]

    operations = [
        migrations.AlterField(
            model_name="votecount",
            name="left_model",
            field=models.ForeignKey(
                db_column="left_model_id",
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="policies.policy",
            ),
        ),
        migrations.AlterField(
            model_name="votecount",
            name="right_model",
            field=models.ForeignKey(
                db_column="right_model_id",
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="policies.policy",
            ),
        ),
        migrations.AddIndex(
            model_name="votecount",
            index=models.Index(
                fields=["left_model", "right_model", "left_better", "right_better", "tie", "both_bad"],
                name="vote_counts_of_pair",
            ),
        ),
        migrations.AddIndex(
            model_name="votecount",
            index=models.Index(
                fields=["right_model", "left_better", "right_better", "tie", "both_bad"],
                name="vote_counts_of_right_model",
            ),
        ),
    ]
