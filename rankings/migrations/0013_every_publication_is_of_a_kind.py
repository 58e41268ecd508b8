from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("rankings", "0012_publications_so_far_are_the_robots")]

    operations = [
        migrations.DeleteModel("ClassicEloOfRobots"),
        migrations.AlterField(
            "snapshot", "kind", models.CharField(help_text="As `arena.kinds` knows it.", max_length=20)
        ),
    ]
