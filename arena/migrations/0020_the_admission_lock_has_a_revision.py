from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("arena", "0019_people")]

    operations = [
        migrations.AddField("admissionlock", "revision", models.PositiveBigIntegerField(default=0)),
        migrations.AddField("admissionlock", "sent", models.JSONField(default=list)),
    ]
