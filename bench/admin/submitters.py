"""Who submits: how their submissions fared, which accounts are one person, and who is shut out."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from django.contrib import admin
from django.db.models import Count, Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from accounts.models import User
from bench import services
from bench.admin.access import ReadOnlyAdmin
from bench.models import ReviewStatus, SubmitterAccount

Steps = Mapping[Model, Callable[[], object]]
Plan = Callable[[list[User], User, str], Steps]


@admin.register(SubmitterAccount)
class SubmitterAdmin(ReadOnlyAdmin):
    list_display = ["email", "n_submissions", "n_published", "n_hidden", "n_machines", "counts_as", "banned"]
    list_select_related = ["submitter__counts_as"]
    ordering = ["-date_joined", "pk"]
    search_fields = ["email"]
    fields = ["email", "date_joined", "counts_as", "banned"]
    readonly_fields = ["counts_as", "banned"]
    actions = ["merge_selected", "part_selected", "ban_selected", "ban_and_hide_selected", "lift_ban_selected"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[SubmitterAccount]:
        accounts: QuerySet[SubmitterAccount] = super().get_queryset(request)
        hidden = Q(bench_submissions__status__in=(ReviewStatus.REJECTED, ReviewStatus.WITHDRAWN))
        published = Q(bench_submissions__status=ReviewStatus.PUBLISHED)
        return accounts.filter(bench_submissions__isnull=False).annotate(
            n_submissions=Count("bench_submissions", distinct=True),
            n_published=Count("bench_submissions", distinct=True, filter=published),
            n_hidden=Count("bench_submissions", distinct=True, filter=hidden),
            n_machines=Count("bench_nodes", distinct=True),
        )

    @admin.display(description="Submissions", ordering="n_submissions")
    def n_submissions(self, account: Any) -> int:
        return int(account.n_submissions)

    @admin.display(description="Published", ordering="n_published")
    def n_published(self, account: Any) -> int:
        return int(account.n_published)

    @admin.display(description="Hidden or withdrawn", ordering="n_hidden")
    def n_hidden(self, account: Any) -> int:
        return int(account.n_hidden)

    @admin.display(description="Machines", ordering="n_machines")
    def n_machines(self, account: Any) -> int:
        return int(account.n_machines)

    @admin.display(description="Counts as")
    def counts_as(self, account: SubmitterAccount) -> str:
        other = account.submitter.counts_as if hasattr(account, "submitter") else None
        return other.email if other else "itself"

    @admin.display(description="Banned")
    def banned(self, account: SubmitterAccount) -> str:
        banned_at = account.submitter.banned_at if hasattr(account, "submitter") else None
        return f"since {banned_at:%Y-%m-%d}" if banned_at else "no"

    @admin.action(description="Count as one person: the oldest account", permissions=["moderate"])
    def merge_selected(self, request: HttpRequest, queryset: QuerySet[User]) -> HttpResponse | None:
        return self._ask(request, queryset, "merge_selected", "Count these accounts as the oldest of them", _merge)

    @admin.action(description="Count by themselves again", permissions=["moderate"])
    def part_selected(self, request: HttpRequest, queryset: QuerySet[User]) -> HttpResponse | None:
        return self._ask(request, queryset, "part_selected", "Count each of these accounts by itself again", _part)

    @admin.action(description="Ban: take no more bundles", permissions=["moderate"])
    def ban_selected(self, request: HttpRequest, queryset: QuerySet[User]) -> HttpResponse | None:
        return self._ask(request, queryset, "ban_selected", "Take no more bundles of these accounts", _ban)

    @admin.action(description="Ban, and hide what was sent", permissions=["moderate"])
    def ban_and_hide_selected(self, request: HttpRequest, queryset: QuerySet[User]) -> HttpResponse | None:
        title = "Take no more bundles of these accounts, and hide all that they sent"
        return self._ask(request, queryset, "ban_and_hide_selected", title, _ban_and_hide)

    @admin.action(description="Lift the ban", permissions=["moderate"])
    def lift_ban_selected(self, request: HttpRequest, queryset: QuerySet[User]) -> HttpResponse | None:
        return self._ask(request, queryset, "lift_ban_selected", "Take bundles of these accounts again", _lift)

    def _ask(
        self, request: HttpRequest, queryset: QuerySet[User], action: str, title: str, plan: Plan
    ) -> HttpResponse | None:
        """Ask for the note once, then do it."""
        accounts = list(User.objects.filter(pk__in=queryset.values("pk")).order_by("date_joined", "pk"))
        if "note" in request.POST:
            steps = plan(accounts, request.user, request.POST["note"])  # type: ignore[arg-type]  # the admin lets in users only
            self.take_each(request, steps, "account")
            return None
        context = {
            **self.admin_site.each_context(request),
            "title": title,
            "accounts": accounts,
            "action_name": action,
            "opts": self.opts,
            "media": self.media,
        }
        return TemplateResponse(request, "admin/bench/submitteraccount/ask.html", context)


def _merge(accounts: list[User], by: User, note: str) -> Steps:
    oldest, *others = accounts
    return {
        source: partial(services.submitters_merge, source=source, target=oldest, by=by, note=note) for source in others
    }


def _part(accounts: list[User], by: User, note: str) -> Steps:
    return {account: partial(services.submitter_part, account=account, by=by) for account in accounts}


def _ban(accounts: list[User], by: User, note: str, *, hides_runs: bool = False) -> Steps:
    ban = partial(services.submitter_ban, by=by, note=note, hides_runs=hides_runs)
    return {account: partial(ban, account=account) for account in accounts}


def _ban_and_hide(accounts: list[User], by: User, note: str) -> Steps:
    return _ban(accounts, by, note, hides_runs=True)


def _lift(accounts: list[User], by: User, note: str) -> Steps:
    return {account: partial(services.submitter_lift_ban, account=account, by=by) for account in accounts}
