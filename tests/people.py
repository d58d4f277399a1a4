"""The people of the tests, and how their programs call."""

from typing import Any

from django.contrib.auth.models import Group
from rest_framework.test import APIClient

from accounts.models import User
from accounts.services import api_key_create, login_open

PASSWORD = "correct horse battery staple"


def make_user(email: str = "submitter@example.org", **fields: Any) -> User:
    return User.objects.create_user(email, PASSWORD, **fields)


def make_maintainer(email: str = "maintainer@example.org") -> User:
    """A moderator: may enter the admin, holds what the group holds, and is no superuser."""
    user = make_user(email, is_staff=True)
    user.groups.add(Group.objects.get(name="maintainers"))
    return user


def api_client(user: User | None = None, **fields: Any) -> APIClient:
    """A program that logged in as `user`; without one, a stranger's."""
    client = APIClient(**fields)
    if user is not None:
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {login_open(user=user).access_token}")
    return client


def key_client(user: User, scope: str = "all") -> APIClient:
    """A machine of `user` that holds an API key."""
    client = APIClient()
    client.credentials(HTTP_X_API_KEY=api_key_create(user=user, name="box", scope=scope)[1])
    return client
