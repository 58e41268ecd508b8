"""The Celery application. Workers discover the tasks in each app's tasks.py."""

import os

from celery import Celery

from vlaarena.monitoring import task_ids  # noqa: F401 - connects to the signals of tasks

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vlaarena.settings")

app = Celery("vlaarena")
app.config_from_object("django.conf:settings", namespace="CELERY")
# Celery keeps database connections between tasks; arena/queue/worker.py returns them after each task.
# This is not one of Celery's own settings, so the CELERY_ namespace cannot carry it.
app.conf["CELERY_DB_REUSE_MAX"] = 10**9
app.autodiscover_tasks()
