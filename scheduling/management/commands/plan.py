"""Plans accounts by hand: what the worker does when an account is due."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import User
from scheduling import services


class Command(BaseCommand):
    help = "Plan the accounts that are due, or one of them, and say what came of it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--account", metavar="EMAIL", help="plan this account, due or not")

    def handle(self, *args: Any, account: str | None, **options: Any) -> None:
        services.work_over_close()
        accounts = [self._find(account)] if account else list(User.objects.in_bulk(services.accounts_due()).values())
        for user in accounts:
            version = services.account_plan(account=user, even_if_not_due=bool(account))
            self.stdout.write(f"{user}: {_outcome(version)}")
        if not accounts:
            self.stdout.write("No account is due.")

    def _find(self, email: str) -> User:
        user = User.objects.filter(email=email.strip().lower()).first()
        if user is None:
            raise CommandError(f"There is no account {email}.")
        return user


def _outcome(version: Any) -> str:
    if version is None:
        return "nothing new to publish"
    placed = version.placements.filter(feasible=True).count()
    left_out = version.placements.filter(feasible=False).count()
    money = f"{version.cost.normalize():f} {version.currency}, at least {version.lower_bound.normalize():f}"
    return f"version {version.number}, {placed} placed, {left_out} do not fit, {money}"
