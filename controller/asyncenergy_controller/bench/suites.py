"""The named suites, and sweeps over any of them.

The numbers of `quick`, `calibrate` and `reference` are those of the deployed suite.
"""

from collections.abc import Iterable, Sequence

from asyncenergy_controller.bench.plan import Pinned, Plan, Unit, with_clock_locks, with_power_caps

MINI_SWEEP = (0.85, 0.75, 0.65)
FIVE_SHOT = 5
REFERENCE_WEIGHTS = Pinned(
    model="Qwen3.5-9B",
    quantization="Q4_K_M",
    engine="llama.cpp",
    source="lmstudio-community/Qwen3.5-9B-GGUF (revision 1379f25c6b505a3fc737bd7818cb09389cf807c1)",
)

SMOKE = Plan(suite="smoke", units=(Unit(task="arith", n_items=40, level=1),))

_GSM8K = Unit(task="gsm8k_platinum", n_items=25, n_shot=FIVE_SHOT)

QUICK = Plan(
    suite="quick",
    units=(
        _GSM8K,
        Unit(task="mmlu_redux", n_items=50, n_shot=FIVE_SHOT),
        Unit(task="ifeval", n_items=25),
        *with_power_caps(_GSM8K, MINI_SWEEP),
    ),
)

_CALIBRATE = Unit(task="gsm8k_platinum", n_items=15, n_shot=FIVE_SHOT)

CALIBRATE = Plan(suite="calibrate", units=with_power_caps(_CALIBRATE, (None, MINI_SWEEP[0])))

REFERENCE = Plan(
    suite="reference",
    units=(Unit(task="gsm8k_platinum", n_items=100, n_shot=FIVE_SHOT),),
    pinned=REFERENCE_WEIGHTS,
)

NAMED = {plan.suite: plan for plan in (SMOKE, QUICK, CALIBRATE, REFERENCE)}
SMALL_ITEMS = 5


def sweep_plan(base: Sequence[Unit], *, caps: Iterable[float], clocks_mhz: Iterable[float]) -> Plan:
    """Each unit at stock, then under each cap (a fraction of the factory default), then at each locked clock."""
    stock = [unit for unit in base if unit.power_cap is None]
    units = [
        swept
        for unit in stock
        for swept in (
            *with_power_caps(unit, (None, *caps)),
            *with_clock_locks(unit, (round(clock) for clock in clocks_mhz)),
        )
    ]
    return Plan(suite="sweep", units=tuple(units))
