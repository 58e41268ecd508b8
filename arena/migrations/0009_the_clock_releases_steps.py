from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("arena", "0008_secrets_clocks_and_networks"),
    ]

    operations = [
        # The clock of a turn (release_from) says which steps are shown: nobody counts them.
        migrations.RemoveField(model_name="turn", name="released_steps"),
    ]
