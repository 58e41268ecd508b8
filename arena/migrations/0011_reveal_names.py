from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("arena", "0010_networks_of_votes_and_turns"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="battle",
            options={
                "ordering": ["-created_at"],
                "permissions": [("reveal_names", "Can reveal the names of a battle before its vote, which spoils it")],
            },
        ),
    ]
