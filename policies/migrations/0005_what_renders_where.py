from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("policies", "0004_ids_begin_with_a_letter_or_digit"),
    ]

    operations = [
        migrations.AddField(
            model_name="hosting",
            name="render_profile",
            field=models.CharField(blank=True, help_text="What renders there; empty: not said yet.", max_length=120),
        ),
    ]
