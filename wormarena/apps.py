from django.apps import AppConfig


class WormarenaConfig(AppConfig):
    name = "wormarena"
    default_auto_field = "django.db.models.BigAutoField"
