"""Those who log in: members of a role, and superusers."""

from __future__ import annotations

from django.contrib.auth.models import Group, User
from django.test import Client

from vlaarena.roles import MODERATOR, OPERATOR, enter_roles


def moderator() -> User:
    return _member(MODERATOR)


def operator() -> User:
    return _member(OPERATOR)


def logged_in(user: User, **options: bool) -> Client:
    client = Client(**options)
    client.force_login(user)
    return client


def _member(role: str) -> User:
    """Somebody of the staff who has this role and nothing else."""
    enter_roles()
    user = User.objects.create_user(role, password=f"{role}, long enough", is_staff=True)
    user.groups.add(Group.objects.get(name=role))
    return user
