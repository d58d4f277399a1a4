"""What the answers of the corpus look like. Rows come ready from the selectors; these describe them."""

from typing import Any

from rest_framework import serializers

from api.fields import InstantField, StrictCharField, StrictFloatField

Shape = serializers.Serializer[Any]


def number(help_text: str) -> serializers.FloatField:
    return serializers.FloatField(allow_null=True, help_text=help_text)


class MarkSerializer(Shape):
    code = serializers.CharField()
    label = serializers.CharField(help_text="two or three words")  # type: ignore[assignment]  # a field of this name
    sentence = serializers.CharField()


class RowSerializer(Shape):
    """One configuration on one task. Every figure of energy and speed is the median machine's."""

    config_key = serializers.CharField(help_text="16 hex of the configuration")
    task = serializers.CharField()
    model = serializers.CharField()
    quantization = serializers.CharField(allow_null=True)
    engine = serializers.CharField()
    engine_version = serializers.CharField(allow_null=True)
    gpu_class = serializers.CharField(allow_null=True)
    power_limit_w = number("W; null is the stock limit")
    clock_lock_mhz = number("MHz; null is unlocked")
    thinking_mode = serializers.CharField(allow_null=True)
    concurrency = serializers.IntegerField()
    joules_per_correct_answer = number("J; null where nothing was right or the energy is unknown")
    jpc_ci_low = number("J, 95 % interval of the one run shown")
    jpc_ci_high = number("J")
    jpc_wide_low = number("J, the same with 5 % for the gain of a board's own sensor")
    jpc_wide_high = number("J")
    jpc_min = number("J, the best machine")
    jpc_max = number("J, the worst machine")
    spread_min = number("J, as jpc_min; null with one machine")
    spread_max = number("J, as jpc_max; null with one machine")
    joules_per_token = number("J per completion token")
    joules_per_item = number("J")
    accuracy = number("0..1, over distinct items")
    accuracy_ci_low = number("0..1, Wilson 95 %")
    accuracy_ci_high = number("0..1")
    n_items = serializers.IntegerField(allow_null=True, help_text="distinct items")
    n_correct = serializers.IntegerField(allow_null=True)
    pooled_tokens_per_second = number("completion tokens per second")
    ttft_p50_s = number("s to the first token; null unless every request streamed")
    net_jpc = number("J per correct answer without the loaded, waiting device; never without the gross")
    mean_gpu_w = number("W over the run")
    gpu_power_cv = number("standard deviation of the power over its mean")
    peak_gpu_mem_used_mib = number("MiB")
    efficiency_index = number("J/correct of the reference configuration on the same machine over this one's")
    is_pareto = serializers.BooleanField(
        help_text="no verified row of this task, device and kind of energy beats it in both"
    )
    tier = serializers.ChoiceField(["A", "B", "C"], allow_null=True, help_text="derived by rule")
    verified = serializers.BooleanField(help_text="derived from items and trace, not claimed")
    correctness_word = serializers.ChoiceField(["server", "submitter"], help_text="who scored the answers")
    energy_source = serializers.CharField(allow_null=True)
    energy_boundary = serializers.CharField(allow_null=True)
    flags = serializers.ListField(child=serializers.CharField())
    marks = MarkSerializer(many=True)
    grades = serializers.DictField(child=serializers.FloatField(allow_null=True))
    letter_grade = serializers.CharField(allow_null=True)
    rank = serializers.IntegerField(allow_null=True, help_text="within the task; shared while intervals overlap")
    n_runs = serializers.IntegerField()
    n_nodes = serializers.IntegerField()
    n_unique_submitters = serializers.IntegerField()
    n_accounts = serializers.IntegerField()
    methodology_version = serializers.CharField()
    run_id = serializers.UUIDField(help_text="the run that the figures come from")
    latest_run_id = serializers.UUIDField()
    updated_at = InstantField()


class FacetSerializer(Shape):
    value = serializers.CharField()
    count = serializers.IntegerField(help_text="rows of the board")


class FacetsSerializer(Shape):
    task = FacetSerializer(many=True)
    gpu_class = FacetSerializer(many=True)
    model = FacetSerializer(many=True)
    quant = FacetSerializer(many=True)
    engine = FacetSerializer(many=True)
    tier = FacetSerializer(many=True)
    data_version = serializers.CharField()


class GateSerializer(Shape):
    code = serializers.CharField()
    severity = serializers.ChoiceField(["quarantine", "flag"])
    passed = serializers.BooleanField(allow_null=True, help_text="null: the gate does not apply")
    sentence = serializers.CharField()


class DecisionSerializer(Shape):
    at = InstantField()
    action = serializers.ChoiceField(["quarantine", "publish", "reject", "withdraw", "reinstate"])
    reason_code = serializers.CharField()
    reason = serializers.CharField()
    note = serializers.CharField()
    decider = serializers.CharField()


class LogEntrySerializer(DecisionSerializer):
    run_id = serializers.UUIDField()
    model = serializers.CharField()
    task = serializers.CharField(allow_null=True)
    gpu_class = serializers.CharField(allow_null=True)
    status = serializers.CharField(help_text="of the run now")


class RunSerializer(Shape):
    """One published run. Times are seconds of the run's own clock, 0 at the first sample."""

    id = serializers.UUIDField()
    node = serializers.CharField(allow_null=True, help_text="8 hex that stand for the machine")
    status = serializers.CharField()
    task = serializers.CharField(allow_null=True)
    model = serializers.CharField()
    config_key = serializers.CharField()
    config = serializers.DictField(child=serializers.CharField(allow_null=True))
    gpu_name = serializers.CharField(allow_null=True)
    driver_version = serializers.CharField(allow_null=True)
    suite = serializers.CharField()
    methodology_version = serializers.CharField()
    is_simulated = serializers.BooleanField()
    date = serializers.DateField(allow_null=True)
    tier = serializers.ChoiceField(["A", "B", "C"], allow_null=True)
    tier_reasons = serializers.ListField(child=serializers.CharField())
    correctness_word = serializers.ChoiceField(["server", "submitter"])
    flags = MarkSerializer(many=True)
    figures = serializers.DictField(help_text="every derived figure by its wire name")
    ledger = serializers.ListField(child=serializers.DictField())
    gates = GateSerializer(many=True)
    items = serializers.DictField(help_text="columns; correct as the server counts it, energy_j in J")
    trace = serializers.DictField(help_text="columns as recorded")
    decisions = DecisionSerializer(many=True)


class RunOutcomeSerializer(Shape):
    index = serializers.IntegerField()
    status = serializers.CharField(help_text="accepted, quarantined or duplicate")


class ReceiptSerializer(Shape):
    id = serializers.UUIDField()
    status = serializers.ChoiceField(["accepted", "quarantined", "duplicate"])
    flags = serializers.ListField(child=serializers.CharField(), help_text="codes of the gates that did not pass")
    reasons = serializers.ListField(child=serializers.CharField(), help_text="the same in words, with both numbers")
    url = serializers.URLField()
    runs = RunOutcomeSerializer(many=True)


class OwnRunSerializer(Shape):
    id = serializers.UUIDField()
    index = serializers.IntegerField()
    status = serializers.CharField()
    model = serializers.CharField()
    task = serializers.CharField(allow_null=True)
    gpu_class = serializers.CharField(allow_null=True)
    tier = serializers.CharField(allow_null=True)
    tier_claimed = serializers.CharField(allow_null=True)
    joules_per_correct_answer = number("J")
    gates = GateSerializer(many=True, help_text="those that did not pass")
    decisions = DecisionSerializer(many=True)


class OwnSubmissionSerializer(Shape):
    id = serializers.UUIDField()
    status = serializers.ChoiceField(["pending", "quarantined", "published", "rejected", "withdrawn"])
    suite = serializers.CharField()
    schema_version = serializers.CharField()
    sha256 = serializers.CharField()
    generated_at = InstantField(allow_null=True)
    received_at = InstantField()
    runs = OwnRunSerializer(many=True)


class NodeUpsertSerializer(Shape):
    node_hash = StrictCharField(min_length=8, max_length=128)
    gpu_name = StrictCharField(max_length=120, required=False, allow_null=True)
    driver_version = StrictCharField(max_length=120, required=False, allow_null=True)
    vram_gb = StrictFloatField(min_value=0, required=False, allow_null=True)
    cpu_model = StrictCharField(max_length=120, required=False, allow_null=True)
    ram_gb = StrictFloatField(min_value=0, required=False, allow_null=True)


class NodeReceiptSerializer(Shape):
    status = serializers.CharField(help_text="ok")
    node_hash = serializers.CharField()


class NodeSerializer(Shape):
    node_hash = serializers.CharField()
    node = serializers.CharField(source="public_id", help_text="how the machine is named in public")
    gpu_name = serializers.CharField(allow_null=True)
    driver_version = serializers.CharField(allow_null=True)
    vram_gb = number("GB")
    cpu_model = serializers.CharField(allow_null=True)
    ram_gb = number("GB")
    n_runs = serializers.IntegerField()
    created_at = InstantField()
    updated_at = InstantField()


class CapSerializer(Shape):
    recommended_cap_w = number("W, never above stock; null where no sweep was measured or none keeps the speed")
    source = serializers.ChoiceField(["own_runs", "gpu_class"], allow_null=True)  # type: ignore[assignment]  # a field of this name
