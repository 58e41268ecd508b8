from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("policies", "0004_ids_begin_with_a_letter_or_digit"),
    ]

    operations = [
        migrations.AddField(
            model_name="hosting",
            name="slots",
            field=models.PositiveIntegerField(default=1, help_text="Rollouts that the worker plays side by side."),
        ),
    ]
