"""What holds for every page of the desk: records are read, never typed over."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.db.models import Model
from django.http import HttpRequest

from asyncenergy.errors import AsyncEnergyError
from bench.presentation import counted
from bench.services.nodes import MODERATE

if TYPE_CHECKING:
    Base = admin.ModelAdmin[Any]
else:
    Base = admin.ModelAdmin  # generic in its stubs only


class ReadOnlyAdmin(Base):
    """No field of a record is a form field, and nothing is deleted."""

    list_per_page = 50

    class Media:
        css = {"all": ["css/desk.css"]}

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def take_each(self, request: HttpRequest, steps: Mapping[Model, Callable[[], object]], noun: str) -> None:
        """Take one step per record, and say of each that was refused why, and how many were not."""
        done = 0
        for record, step in steps.items():
            try:
                step()
                done += 1
            except AsyncEnergyError as error:
                self.message_user(request, f"Not changed: {record}. {error.detail}", messages.ERROR)
        if done:
            self.message_user(request, f"{counted(done, noun)} changed.", messages.SUCCESS)

    def has_moderate_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm(MODERATE))
