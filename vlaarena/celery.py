"""The Celery application. Tasks know no project; the worker finds them in each app's tasks.py."""

import os

from celery import Celery

from vlaarena.monitoring import task_ids  # noqa: F401 - connects to what is sent and run

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vlaarena.settings")

app = Celery("vlaarena")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
