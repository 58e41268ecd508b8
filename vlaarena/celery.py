"""The Celery application. Tasks know no project; the worker finds them in each app's tasks.py."""

import os

from celery import Celery

from vlaarena.monitoring import task_ids  # noqa: F401 - connects to what is sent and run

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vlaarena.settings")

app = Celery("vlaarena")
app.config_from_object("django.conf:settings", namespace="CELERY")
# Celery leaves connections to the database alone between tasks; arena/queue/worker.py gives them back after each.
# Celery has no setting of this name, so the namespace cannot carry it.
app.conf["CELERY_DB_REUSE_MAX"] = 10**9
app.autodiscover_tasks()
