"""The desk for markets and prices: what is known, what is missing, what a person has to confirm."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Count, Max, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse

from asyncenergy.errors import AsyncEnergyError
from bench.admin.access import ReadOnlyAdmin
from scheduling import services
from scheduling.errors import PricesRefused
from scheduling.models import Feed, Market, PriceDocument, PricePoint
from scheduling.prices.periods import periods_from
from scheduling.selectors.prices import coverage_words

if TYPE_CHECKING:  # generic in the stubs only
    Base = admin.ModelAdmin[Any]
    Inline = admin.TabularInline[Feed, Market]
    MarketModelForm = forms.ModelForm[Market]
else:
    Base, Inline, MarketModelForm = admin.ModelAdmin, admin.TabularInline, forms.ModelForm

CSV_BYTES = 8 * 2**20
FEED = ("market", "position", "source", "is_enabled", "last_success_at", "next_attempt_at", "failures")
POINT = ("start", "end", "market", "price_per_kwh", "is_forecast", "version", "superseded_at")


class MarketForm(MarketModelForm):
    class Meta:
        model = Market
        fields = ["slug", "name", "currency", "timezone", "periods", "after_the_fact", "is_default"]

    def clean_periods(self) -> Any:
        rows = self.cleaned_data["periods"]
        try:
            periods_from(rows) if rows else None
        except PricesRefused as error:
            raise forms.ValidationError(error.detail) from error
        return rows


class PricesForm(forms.Form):
    file = forms.FileField(help_text="CSV with start, end (ISO 8601 with offset) and price_per_kwh or price_per_mwh")

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if (file.size or 0) > CSV_BYTES:
            raise forms.ValidationError(f"The file is larger than {CSV_BYTES // 2**20} MiB.")
        return file


class FeedInline(Inline):
    model = Feed
    extra = 0
    fields = ["position", "source", "options", "is_enabled", "last_success_at", "next_attempt_at", "last_error"]
    readonly_fields = ["last_success_at", "last_error"]


@admin.register(Market)
class MarketAdmin(Base):
    form = MarketForm
    list_display = ["name", "slug", "currency", "timezone", "is_default", "known_until"]
    search_fields = ["name", "slug"]
    inlines = [FeedInline]
    readonly_fields = ["known"]
    change_form_template = "admin/scheduling/market/change_form.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Market]:
        in_force = Q(points__is_forecast=False, points__superseded_at=None)
        markets: QuerySet[Market] = super().get_queryset(request)
        return markets.annotate(last_end=Max("points__end", filter=in_force))

    @admin.display(description="Prices until (UTC)", ordering="last_end")
    def known_until(self, market: Any) -> Any:
        return "a fixed tariff" if market.is_fixed else market.last_end

    @admin.display(description="Prices")
    def known(self, market: Market) -> str:
        return coverage_words(market)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_urls(self) -> list[URLPattern]:
        upload = path(
            "<int:market_id>/prices/", self.admin_site.admin_view(self.upload), name="scheduling_market_prices"
        )
        return [upload, *super().get_urls()]

    def upload(self, request: HttpRequest, market_id: int) -> HttpResponse:
        """Take in a file of prices; what is wrong with it stands above the form."""
        market = self.get_object(request, str(market_id))
        if market is None or not self.has_change_permission(request, market):
            return redirect("admin:scheduling_market_changelist")
        form = PricesForm(request.POST or None, request.FILES or None)
        if form.is_valid() and self._loaded(request, market, form.cleaned_data["file"].read()):
            return redirect(reverse("admin:scheduling_market_change", args=[market.pk]))
        context = {**self.admin_site.each_context(request), "form": form, "market": market, "title": "Load prices"}
        return render(request, "admin/scheduling/market/prices.html", context)

    def _loaded(self, request: HttpRequest, market: Market, raw: bytes) -> bool:
        try:
            document = services.prices_load_csv(market=market, raw=raw)
        except PricesRefused as error:
            self.message_user(request, error.detail, messages.ERROR)
            return False
        if document is not None and document.status != PriceDocument.Status.ACCEPTED:
            self.message_user(request, f"{document.get_status_display()}: {document.reason}", messages.WARNING)
            return True
        words = f"{document.points.count()} prices stored." if document else "All of these prices were known."
        self.message_user(request, words, messages.SUCCESS)
        return True


@admin.register(Feed)
class FeedAdmin(ReadOnlyAdmin):
    list_display = FEED
    list_filter = ["source", "is_enabled"]
    list_select_related = ["market"]
    search_fields = ["market__name", "last_error"]
    fields = [*FEED, "options", "last_attempt_at", "last_error"]


@admin.register(PriceDocument)
class PriceDocumentAdmin(ReadOnlyAdmin):
    """Quarantined documents wait here for a person."""

    list_display = ["document_id", "market", "status", "source", "fetched_at", "n_points", "reason"]
    list_filter = ["status", "source", "market"]
    list_select_related = ["market"]
    search_fields = ["document_id", "reason"]
    fields = ["document_id", "market", "source", "status", "reason", "fetched_at", "waiting"]
    actions = ["confirm_selected"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[PriceDocument]:
        documents: QuerySet[PriceDocument] = super().get_queryset(request)
        return documents.annotate(n_points=Count("points")).order_by("-status", "-fetched_at", "-pk")

    @admin.display(description="Prices", ordering="n_points")
    def n_points(self, document: Any) -> int:
        count: int = document.n_points or len(document.waiting)
        return count

    def has_confirm_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("scheduling.change_pricedocument"))

    @admin.action(description="Take these prices after all", permissions=["confirm"])
    def confirm_selected(self, request: HttpRequest, queryset: QuerySet[PriceDocument]) -> None:
        done = 0
        for document in queryset:
            try:
                services.document_confirm(document=document)
                done += 1
            except AsyncEnergyError as error:
                self.message_user(request, f"{document}: {error.detail}", messages.ERROR)
        if done:
            self.message_user(request, f"{done} taken.", messages.SUCCESS)


@admin.register(PricePoint)
class PricePointAdmin(ReadOnlyAdmin):
    list_display = POINT
    list_filter = ["is_forecast", "market"]
    list_select_related = ["market"]
    search_fields = ["document__document_id"]
    date_hierarchy = "start"
    fields = [*POINT, "document"]
