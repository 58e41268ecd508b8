"""The category of prompts about numbers is called math."""

from __future__ import annotations

from typing import Any

from django.db import migrations


def rename(apps: Any, schema_editor: Any) -> None:
    apps.get_model("texts", "Prompt").objects.filter(category="reckon").update(category="math")


class Migration(migrations.Migration):
    dependencies = [("texts", "0003_looks_likes_cache")]
    operations = [migrations.RunPython(rename, migrations.RunPython.noop)]
