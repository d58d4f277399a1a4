"""Gates that hold a run until a person has looked at it. Pure: no Django, no I/O."""

from collections import Counter

from bench.configuration import PROCEDURAL_TASKS
from bench.fingerprint import ALIKE, MARKS_A_CHANNEL
from bench.presentation import with_sign
from bench.verification import comparison
from bench.verification.gate import Check, Evidence, Gate, Severity, Verdict, unknown
from bench.verification.hardware import fastest_tokens_per_s

DRIFT_LIMIT_PCT = 10.0
POWER_OF_IDLE, POWER_OF_LIMIT = 0.5, 1.1
SAMPLE_OF_LIMIT = 1.7
JOULES_PER_TOKEN_LIMIT = 100.0
PEER_FACTOR = 20.0
UTILISATION_FLOOR_PCT = 1.0
WEIGHTS_SHARE = 0.05
COVERAGE_FLOOR_PCT = 75.0
LEAST_W, MOST_W = 1.0, 2000.0
LONGEST_HOLE_S = 30.0
BETWEEN_ITEMS_PCT = 10.0
IN_FLIGHT = 0.55  # of the stated concurrency; recorded runs reached 0.71 with four rounds of items, 0.99 with many
CLOCK_AHEAD_S = 600.0
HARD_TASKS = frozenset({"gpqa", "gpqa_diamond", "math500", "mmlu", "mmlu_redux"})


def drift(e: Evidence) -> Verdict:
    pct = e.figure("counter_vs_integration_pct_diff")
    if pct is None:
        return unknown("counter and integration were not both there")
    counter, integrated = e.figure("total_joules_gpu_counter"), e.figure("total_joules_gpu")
    both = f"counter {counter:,.1f} J, integration {integrated:,.1f} J" if counter and integrated else "claimed"
    sentence = f"Drift {with_sign(pct, 2)} % ({both}; limit {DRIFT_LIMIT_PCT:g} %)."
    return Verdict(abs(pct) <= DRIFT_LIMIT_PCT, sentence, pct, DRIFT_LIMIT_PCT)


def mean_power(e: Evidence) -> Verdict:
    """Without an idle power and a limit of its own, a device is held to what no device is below or above."""
    mean = e.figure("mean_gpu_w")
    if mean is None:
        return unknown("mean power is not recorded")
    low = POWER_OF_IDLE * e.idle_w if e.idle_w else LEAST_W if e.is_gpu else 0.0
    high = POWER_OF_LIMIT * e.limit_w if e.limit_w else MOST_W * e.device_count
    bounds = f"{low:,.4g} to {high:,.0f} W"
    return Verdict(low <= mean <= high, f"Mean power {mean:,.4g} W (plausible: {bounds}).", mean, bounds)


def sample_power(e: Evidence) -> Verdict:
    most = e.figure("peak_sampled_gpu_w")
    if most is None or e.limit_w is None or e.trace.get("power_field") == "instant":
        return unknown("no averaged power samples beside a power limit")
    limit = SAMPLE_OF_LIMIT * e.limit_w
    return Verdict(most <= limit, f"Highest power sample {most:,.1f} W (limit {limit:,.0f} W).", most, limit)


def joules_per_token(e: Evidence) -> Verdict:
    value = e.figure("joules_per_token")
    if value is None:
        return unknown("J per token is not known")
    sentence = f"{value:,.4g} J per token (limit {JOULES_PER_TOKEN_LIMIT:g})."
    return Verdict(value <= JOULES_PER_TOKEN_LIMIT, sentence, value, JOULES_PER_TOKEN_LIMIT)


def peers(e: Evidence) -> Verdict:
    value, median = e.figure("joules_per_token"), e.peer_joules_per_token
    if not value or not median:
        return unknown("no published run of this configuration to compare with")
    factor = max(value / median, median / value)
    sentence = (
        f"{value:,.4g} J per token, {factor:,.1f} × away from the configuration's median of {median:,.4g} (limit 20 ×)."
    )
    return Verdict(factor <= PEER_FACTOR, sentence, value, median)


def gpu_used(e: Evidence) -> Verdict:
    """By utilisation and memory together, never by power: a small model draws hardly more than an idle card."""
    used, memory = e.figure("mean_gpu_util_pct"), e.figure("mean_gpu_mem_used_mib")
    if not e.is_gpu or used is None:
        return unknown("not a GPU run, or utilisation is not recorded")
    shown = f"Mean utilisation {used:.1f} % (floor {UTILISATION_FLOOR_PCT:g} %)"
    if used >= UTILISATION_FLOOR_PCT:
        return Verdict(True, f"{shown}.", used, UTILISATION_FLOOR_PCT)
    if memory is None or e.empty_memory_mib is None:
        return Verdict(False, f"{shown}, and no memory baseline shows that the model was on the card.", used, None)
    most = e.empty_memory_mib + WEIGHTS_SHARE * (e.weights_mib or 0.0)
    sentence = f"{shown}; memory in use {memory:,.0f} MiB, on the empty card {e.empty_memory_mib:,.0f} MiB."
    return Verdict(memory > most, sentence, memory, most)


def speed(e: Evidence) -> Verdict:
    value = e.figure("pooled_tokens_per_second")
    limit = fastest_tokens_per_s(
        e.gpu_class, e.run["model"], e.run.get("quantization"), e.run.get("concurrency", 1), e.device_count
    )
    if value is None or limit is None:
        return unknown("memory bandwidth, model size or quantization is not known")
    sentence = f"{value:,.1f} tokens/s (memory bandwidth allows {limit:,.0f})."
    return Verdict(value <= limit, sentence, value, limit)


def coverage(e: Evidence) -> Verdict:
    pct = e.figure("coverage_pct")
    if pct is None:
        return unknown("no trace")
    return Verdict(
        pct >= COVERAGE_FLOOR_PCT, f"{pct:.1f} % of the run is sampled (floor 75 %).", pct, COVERAGE_FLOOR_PCT
    )


def hole(e: Evidence) -> Verdict:
    """A machine that slept, or a meter that hung: nobody knows what happened meanwhile."""
    gap_s = e.figure("longest_gap_s")
    if gap_s is None:
        return unknown("no trace")
    sentence = f"The longest time without a sample is {gap_s:,.1f} s (limit {LONGEST_HOLE_S:g} s)."
    return Verdict(gap_s <= LONGEST_HOLE_S, sentence, gap_s, LONGEST_HOLE_S)


def items_missing(e: Evidence) -> Verdict | list[Verdict]:
    """Items that were taken out leave their energy behind, their place beside others, and in a generated sequence
    their number."""
    remainder, total = e.figure("remainder_j"), e.figure("total_joules_gpu_best")
    if remainder is None or not total:
        return unknown("energy by item is not known")
    pct = 100 * remainder / total
    sentence = f"{pct:z.1f} % of the energy fell between items (limit {BETWEEN_ITEMS_PCT:g} %)."
    verdicts = [Verdict(pct <= BETWEEN_ITEMS_PCT, sentence, pct, BETWEEN_ITEMS_PCT), *_in_flight(e)]
    if e.run.get("task") in PROCEDURAL_TASKS:
        index = e.items["index"]
        span = max(index) + 1
        words = f"{len(index)} items of a sequence up to number {span}."
        verdicts.append(Verdict(len(index) >= span, words, len(index), span))
    return verdicts


def _in_flight(e: Evidence) -> list[Verdict]:
    duration_s, starts, ends = e.figure("run_duration_s"), e.items.get("t_start_s"), e.items.get("t_end_s")
    if not duration_s or not starts or not ends:
        return []
    at_once = min(e.run.get("concurrency", 1), len(starts))
    found, least = (sum(ends) - sum(starts)) / duration_s, IN_FLIGHT * at_once
    sentence = f"{found:.1f} items were in flight at a time, of {at_once} (limit {least:.1f})."
    return [Verdict(found >= least, sentence, found, least)]


def wall_energy(e: Evidence) -> Verdict:
    wall, gpu = e.figure("wall_joules"), e.figure("total_joules_gpu_best")
    if wall is None or gpu is None:
        return unknown("no wall meter")
    return Verdict(wall >= gpu, f"Wall {wall:,.1f} J, GPU {gpu:,.1f} J (the wall feeds the GPU).", wall, gpu)


def too_good(e: Evidence) -> Verdict:
    accuracy, task = e.figure("accuracy"), e.run.get("task")
    if task not in HARD_TASKS or accuracy is None:
        return unknown("not one of the hard tasks")
    return Verdict(accuracy < 1.0, f"{100 * accuracy:.1f} % right on {task} (below 100 % expected).", accuracy, 1.0)


def clock_ahead(e: Evidence) -> Verdict:
    ahead = f"{e.ahead_s:.0f} s" if e.ahead_s > 0 else "not"
    sentence = f"The bundle's clock is {ahead} ahead of ours (limit {CLOCK_AHEAD_S:g} s)."
    return Verdict(e.ahead_s <= CLOCK_AHEAD_S, sentence, e.ahead_s, CLOCK_AHEAD_S)


def same_trace(e: Evidence) -> Verdict:
    """Also where the recording was cut, scaled or blurred; the other one is never named."""
    if e.is_replay:
        return Verdict(False, "This recording was sent before, under another label, machine or account.")
    share = f"{e.shared_marks} of {MARKS_A_CHANNEL} marks of this recording stand in one that was sent before"
    fine = e.shared_marks < ALIKE
    return Verdict(fine, f"{share} (held from {ALIKE}).", e.shared_marks, ALIKE)


def node_seen_elsewhere(e: Evidence) -> Verdict:
    if e.is_seen_elsewhere:
        return Verdict(False, "The machine's hash is known from another account.")
    return Verdict(True, "The machine's hash is known from no other account.")


def repeated_items(e: Evidence) -> Verdict:
    if not e.has_columns:
        return unknown("no items")
    index = e.items["index"]
    (item, times), *_ = Counter(index).most_common(1)
    sentence = f"Item {item} was answered {times} times." if times > 1 else f"{len(index)} items, each answered once."
    return Verdict(times == 1, sentence, times, 1)


def energy_present(e: Evidence) -> Verdict:
    """A meter that reads nothing at all is a fault, not a very efficient machine."""
    sent = [e.claimed.get(name) for name in ("total_joules_gpu_best", "total_joules_gpu_counter", "total_joules_gpu")]
    energies = [value for value in (*sent, e.figure("total_joules_gpu_best")) if value is not None]
    if 0 in energies or _is_silent(e):
        return Verdict(False, "The energy is 0 J: the meter read nothing.", 0.0)
    if not energies:
        return unknown("no energy was measured")
    return Verdict(True, "The energy is above 0 J.", energies[-1], 0.0)


def _is_silent(e: Evidence) -> bool:
    """Readings that are all 0; a column that is missing or empty says nothing."""
    columns = [e.trace.get(name) or () for name in ("gpu_power_w", "gpu_energy_mj", "cpu_energy_uj")]
    return not any(map(any, columns)) and any(0 in column for column in columns)


def _gate(code: str, rule: str, check: Check) -> Gate:
    return Gate(code, Severity.QUARANTINE, rule, check)


QUARANTINE: tuple[Gate, ...] = (
    comparison.GATE,
    _gate("drift", "Integration and counter differ by over 10 %.", drift),
    _gate(
        "mean_power", "Mean power is below half the idle power, over 1.1 × the limit, or beyond any device.", mean_power
    ),
    _gate("sample_power", "An averaged power sample is over 1.7 × the limit.", sample_power),
    _gate("joules_per_token", "Over 100 J per token.", joules_per_token),
    _gate("peers", "20 × away from the median J per token of the same configuration.", peers),
    _gate("gpu_not_used", "The card did nothing and held no model.", gpu_used),
    _gate("speed", "Faster than the card's memory can read the weights.", speed),
    _gate("coverage", "Under 75 % of the run is sampled.", coverage),
    _gate("hole", "Over 30 s without a sample.", hole),
    _gate("items_missing", "Energy, room or numbers of items that are not in the bundle.", items_missing),
    _gate("wall_energy", "The wall meter saw less than the GPU's own.", wall_energy),
    _gate("too_good", "Everything right on a hard task.", too_good),
    _gate("clock_ahead", "The bundle was made over 10 minutes in the future.", clock_ahead),
    _gate("same_trace", "The same recording under another label, machine or account, or parts of it.", same_trace),
    _gate("node_seen_elsewhere", "The machine is known from another account.", node_seen_elsewhere),
    _gate("repeated_items", "One question stands twice among the items.", repeated_items),
    _gate("energy_present", "The energy is 0 J.", energy_present),
)
