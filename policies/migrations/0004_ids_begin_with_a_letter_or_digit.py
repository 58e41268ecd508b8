import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("policies", "0003_pair_chances"),
    ]

    operations = [
        migrations.AlterField(
            model_name="policy",
            name="id",
            field=models.SlugField(
                max_length=255,
                primary_key=True,
                serialize=False,
                validators=[
                    django.core.validators.RegexValidator("\\A[A-Za-z0-9]", "An id begins with a letter or a digit.")
                ],
            ),
        ),
    ]
