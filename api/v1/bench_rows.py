"""What the aggregates of the corpus look like."""

from typing import Any

from rest_framework import serializers

from api.v1.bench_schemas import RowSerializer, Shape, number


class CostModelSerializer(Shape):
    """J of an item = e_fixed + alpha x uncached prompt tokens + beta x completion tokens, of the median machine."""

    e_fixed_j = number("J of an item before its first token")
    alpha_j_per_prompt_token = number("J")
    beta_j_per_completion_token = number("J")
    r2 = number("share of the variance that the model explains")
    n = serializers.IntegerField(allow_null=True, help_text="items that it was fitted on")
    prompt_token_range = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    completion_token_range = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    e_fixed_se_j = number("standard error; null at the bound 0")
    alpha_se = number("the same")
    beta_se = number("the same")
    claimed = serializers.BooleanField(help_text="coefficients of a submitter, which nothing derives again")
    node = serializers.CharField(allow_null=True, help_text="the machine shown")
    n_machines = serializers.IntegerField(allow_null=True)
    mean_prompt_tokens = number("of the items measured")
    mean_completion_tokens = number("of the items measured")
    mean_item_j = number("J that the model predicts for such an item")
    mean_item_j_min = number("J, the best machine")
    mean_item_j_max = number("J, the worst machine")


class RoutingRowSerializer(Shape):
    config_key = serializers.CharField()
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
    accuracy = number("0..1")
    accuracy_ci_low = number("0..1")
    accuracy_ci_high = number("0..1")
    n_items = serializers.IntegerField(allow_null=True)
    joules_per_correct_answer = number("J, measured at the task's own shape")
    joules_per_token = number("J per completion token")
    pooled_tokens_per_second = number("completion tokens per second")
    ttft_p50_s = number("s to the first token; null unless every request streamed")
    peak_gpu_mem_used_mib = number("MiB")
    tier = serializers.ChoiceField(["A", "B", "C"], allow_null=True)
    verified = serializers.BooleanField()
    energy_source = serializers.CharField(allow_null=True)
    energy_boundary = serializers.CharField(allow_null=True)
    n_nodes = serializers.IntegerField()
    methodology_version = serializers.CharField()
    cost_model = CostModelSerializer(allow_null=True)
    cost_model_reason = serializers.CharField(allow_null=True, help_text="why there is none")


class PickSerializer(RowSerializer):
    """A row of the board with its prediction."""

    predicted_j = number("J per correct answer at the shape; null where it can't be predicted")
    predicted_j_low = number("J, 95 % interval")
    predicted_j_high = number("J")
    predicted_s = number("s for one answer")
    predicted_cost = number("of one correct answer, in the currency of the price")
    score = number("less is better; null is not ranked")
    extrapolated = serializers.BooleanField(help_text="outside twice the range that the model was fitted on")
    tied_with_best = serializers.BooleanField(help_text="its interval overlaps that of the best")
    why = serializers.ListField(child=serializers.CharField(), help_text="why it stands here, and how sure it is")


class ShapeSerializer(Shape):
    prompt_tokens = number("of one request; null where none was asked for")
    output_tokens = number("of one answer")


class PicksSerializer(Shape):
    objective = serializers.CharField()
    task = serializers.CharField(allow_null=True)
    shape = ShapeSerializer()
    count = serializers.IntegerField(help_text="rows that satisfy the wish")
    results = PickSerializer(many=True)
    data_version = serializers.CharField()


class PointSerializer(Shape):
    setting = serializers.JSONField(allow_null=True, help_text="a number or a word; null is the stock setting")
    is_stock = serializers.BooleanField()
    config_key = serializers.CharField()
    run_id = serializers.UUIDField()
    tokens_per_second = serializers.FloatField()
    mean_w = serializers.FloatField()
    joules_per_token = serializers.FloatField()
    joules_per_correct_answer = number("J")
    jpc_ci_low = number("J, 95 % interval")
    jpc_ci_high = number("J")
    accuracy = number("0..1")
    accuracy_ci_low = number("0..1")
    accuracy_ci_high = number("0..1")


class SweepSerializer(Shape):
    kind = serializers.CharField(help_text="the setting that differs: power_cap, clock_lock, concurrency, ...")
    unit = serializers.CharField(allow_null=True, help_text="of the setting, where it has one")
    family = serializers.CharField(help_text="what the configurations have in common, as 16 hex")
    task = serializers.CharField()
    node = serializers.CharField(allow_null=True, help_text="the machine")
    verified = serializers.BooleanField()
    model = serializers.CharField()
    quantization = serializers.CharField(allow_null=True)
    engine = serializers.CharField(allow_null=True)
    engine_version = serializers.CharField(allow_null=True)
    gpu_class = serializers.CharField(allow_null=True)
    stock_limit_w = number("W")
    energy_boundary = serializers.CharField(allow_null=True)
    source_family = serializers.CharField(allow_null=True)
    flex_band_w = number("W given up at the deepest setting that keeps 95 % of the stock speed")
    knee_savings_pct = number("% of J per token saved at the best setting")
    turndown_ratio = number("stock power over that of the deepest setting that keeps half the speed")
    points = PointSerializer(many=True)


class LoadProfileSerializer(Shape):
    load_time_s = number("s")
    load_energy_j = number("J")
    loaded_idle_w = number("W with the model loaded and waiting")
    memory_mib = number("MiB in use")
    claimed = serializers.BooleanField()
    node = serializers.CharField(allow_null=True)
    n_runs = serializers.IntegerField()


class MachineCostSerializer(Shape):
    node = serializers.CharField(allow_null=True)
    e_fixed_j = serializers.FloatField()
    alpha_j_per_prompt_token = serializers.FloatField()
    beta_j_per_completion_token = serializers.FloatField()
    r2 = number("")
    n = serializers.IntegerField()
    prompt_token_range = serializers.ListField(child=serializers.FloatField())
    completion_token_range = serializers.ListField(child=serializers.FloatField())
    e_fixed_se_j = number("")
    alpha_se = number("")
    beta_se = number("")


class ConfigRunSerializer(Shape):
    id = serializers.UUIDField()
    node = serializers.CharField(allow_null=True)
    date = serializers.DateField(allow_null=True)
    task = serializers.CharField(allow_null=True)
    suite = serializers.CharField()
    tier = serializers.CharField(allow_null=True)
    joules_per_correct_answer = number("J")
    n_items = serializers.IntegerField(allow_null=True)
    n_correct = serializers.IntegerField(allow_null=True)


class ConfigSerializer(Shape):
    config_key = serializers.CharField()
    config = serializers.DictField(child=serializers.JSONField(allow_null=True))
    methodology_version = serializers.CharField()
    verified = serializers.BooleanField()
    tasks = serializers.ListField(child=serializers.CharField())
    n_runs = serializers.IntegerField()
    n_nodes = serializers.IntegerField()
    cost_model = CostModelSerializer(allow_null=True)
    cost_model_reason = serializers.CharField(allow_null=True)
    machine_costs = MachineCostSerializer(many=True)
    load_profile = LoadProfileSerializer(allow_null=True)
    grades = serializers.DictField(child=serializers.FloatField(allow_null=True))
    letter_grade = serializers.CharField(allow_null=True)
    rows = RowSerializer(many=True)
    sweeps = SweepSerializer(many=True)
    runs: Any = ConfigRunSerializer(many=True, help_text="the newest 200")
    data_version = serializers.CharField()
