"""The sentence behind each reason code of a figure that is None."""

REASONS = {
    "no_items_window": "The run holds no items with a start and an end.",
    "counter_unsupported": "The device gave no energy counter reading.",
    "counter_reset": "The energy counter went backwards, as after a driver reload; what it lost is unknown.",
    "counter_stuck": "The energy counter did not move in that time: it is stuck, or the time is shorter than its step.",
    "too_few_readings": "The energy counter was read only once.",
    "range_unknown": "The energy counter wrapped and its range is not known.",
    "power_unsupported": "The device gave no power reading.",
    "too_few_samples": "Power was sampled only once.",
    "hole_over_30_s": "Sampling stopped for over 30 s; the energy in that hole was not measured.",
    "window_not_sampled": "Sampling did not cover the whole time, from its start to its end.",
    "no_wall_meter": "No wall meter was read.",
    "energy_unmeasured": "The energy of the run was not measured.",
    "too_few_items": "There are too few items.",
    "too_few_correct_answers": "Over 5 % of the resamples hold no correct answer.",
    "tokens_vary_too_little": "The token counts do not tell the parameters apart.",
    "cached_tokens_unknown": "The engine reused cached prompts and did not say how many tokens.",
}
