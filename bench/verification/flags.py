"""Gates whose failure is public: the row is shown, with a mark. Pure: no Django, no I/O."""

from asyncenergy_controller.metrics import PHASE_LOCKED_ABOVE

from bench.presentation import with_sign
from bench.verification.gate import Check, Evidence, Gate, Severity, Verdict, unknown

TRUNCATED_PCT = 30.0
FIRST_ITEM_FACTOR = 2.0
TEMPERATURE_DRIFT_C = 5.0
CLOCK_SKEW_S = 60.0


def truncated(e: Evidence) -> Verdict:
    pct = e.figure("truncated_pct")
    if pct is None:
        return unknown("finish reasons are not recorded")
    cap = e.run.get("max_tokens")
    sentence = f"{pct:.0f} % of the answers were cut off{f' at {cap} tokens' if cap else ''} (mark from 30 %)."
    return Verdict(pct < TRUNCATED_PCT, sentence, pct, TRUNCATED_PCT, f"truncated {pct:.0f} %")


def throttled(e: Evidence) -> Verdict:
    pct = e.figure("thermal_throttle_pct")
    if pct is None:
        return unknown("throttle reasons are not recorded")
    slowed = f"The hardware slowed itself down in {pct:.1f} % of the samples."
    sentence = slowed if pct > 0 else "The hardware slowed itself down in no sample."
    return Verdict(pct <= 0, sentence, pct, 0.0, f"throttled {pct:.1f} %")


def phase_locked(e: Evidence) -> Verdict:
    r = e.figure("phase_lock_r")
    if r is None:
        return unknown("under 10 items, or the counter's period is not recorded")
    locked = r > PHASE_LOCKED_ABOVE
    how = "in step with" if locked else "at all phases of"
    sentence = f"Items start {how} the energy counter (r = {r:.2f}, mark over {PHASE_LOCKED_ABOVE:g})."
    return Verdict(not locked, sentence, r, PHASE_LOCKED_ABOVE, "phase-locked")


def first_item(e: Evidence) -> Verdict:
    ratio = e.figure("first_item_ratio")
    if ratio is None:
        return unknown("energy by item is not known")
    fine = 1 / FIRST_ITEM_FACTOR <= ratio <= FIRST_ITEM_FACTOR
    sentence = f"A token of the first item took {ratio:.2f} × the energy of the other items' median (mark from 2 ×)."
    return Verdict(fine, sentence, ratio, FIRST_ITEM_FACTOR, "first item apart")


def temperature_drift(e: Evidence) -> Verdict:
    degrees = e.figure("temperature_drift_c")
    if degrees is None:
        return unknown("temperature is not recorded")
    start, end = e.figure("gpu_temp_c_start"), e.figure("gpu_temp_c_end")
    span = f"{start:.0f} to {end:.0f} °C, " if start is not None and end is not None else ""
    sentence = f"{span}{with_sign(degrees, 0)} °C over the run (mark over 5 °C)."
    fine = abs(degrees) <= TEMPERATURE_DRIFT_C
    return Verdict(fine, sentence, degrees, TEMPERATURE_DRIFT_C, f"warmed {with_sign(degrees, 0)} °C")


def shared_gpu(e: Evidence) -> Verdict:
    others = e.figure("other_processes")
    if others is None:
        return unknown("other processes on the GPU are not recorded")
    sentence = f"Up to {others:g} other processes ran on the GPU." if others else "No other process ran on the GPU."
    return Verdict(others == 0, sentence, others, 0, "shared GPU")


def clock_skew(e: Evidence) -> Verdict:
    ahead = f"{e.ahead_s:.0f} s" if e.ahead_s > 0 else "not"
    sentence = f"The bundle's clock is {ahead} ahead of ours (mark over {CLOCK_SKEW_S:g} s)."
    return Verdict(e.ahead_s <= CLOCK_SKEW_S, sentence, e.ahead_s, CLOCK_SKEW_S, "clock skew")


def counter_reset(e: Evidence) -> Verdict:
    if not e.has_columns:
        return unknown("no trace")
    void = e.figures.get("counter_reason") == "counter_reset"
    words = (
        "The energy counter went backwards, so it is void for this run." if void else "The energy counter never fell."
    )
    return Verdict(not void, words, label="counter void")


def rederivable(e: Evidence) -> Verdict:
    words = "Every figure was derived again from items and trace."
    if not e.has_columns:
        words = (
            "Sent as totals only: no figure can be derived again, and the headline is energy divided by right answers."
        )
    return Verdict(e.has_columns, words, label="not re-derivable")


def submitters_word(e: Evidence) -> Verdict:
    if not e.has_columns:
        return unknown("sent as totals only")
    words = "Right and wrong are the submitter's word: the answers, or their key, are not here."
    if e.is_scored_by_server:
        words = "The answers were scored again with the server's own key."
    return Verdict(e.is_scored_by_server, words, label="scored by submitter")


def simulated(e: Evidence) -> Verdict:
    invented = e.run.get("energy_source") == "simulated"
    words = "The energy is simulated, not measured: no rank, no aggregate." if invented else "The energy is measured."
    return Verdict(not invented, words, label="simulated")


def _gate(code: str, rule: str, check: Check) -> Gate:
    return Gate(code, Severity.FLAG, rule, check)


FLAGS: tuple[Gate, ...] = (
    _gate("simulated", "The energy is simulated, not measured.", simulated),
    _gate("truncated", "30 % or more of the answers were cut off.", truncated),
    _gate("throttled", "The hardware slowed itself down.", throttled),
    _gate("phase_locked", "Items start in step with the energy counter.", phase_locked),
    _gate("first_item", "A token of the first item took twice or half the energy of the others' median.", first_item),
    _gate("temperature_drift", "The card's temperature moved by over 5 °C.", temperature_drift),
    _gate("shared_gpu", "Another process ran on the GPU.", shared_gpu),
    _gate("clock_skew", "The bundle's clock is over a minute ahead.", clock_skew),
    _gate("counter_reset", "The energy counter went backwards.", counter_reset),
    _gate("not_rederivable", "Sent as totals only.", rederivable),
    _gate("submitters_word", "Right and wrong are the submitter's word.", submitters_word),
)
