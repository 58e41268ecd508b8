from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("policies", "0005_slots_of_a_worker"),
    ]

    operations = [
        migrations.AddField(
            model_name="hosting",
            name="render_profile",
            field=models.CharField(blank=True, help_text="What renders there; empty: not said yet.", max_length=120),
        ),
    ]
