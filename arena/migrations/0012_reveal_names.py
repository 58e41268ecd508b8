from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("arena", "0008_secrets_clocks_and_networks"),
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
