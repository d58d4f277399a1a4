"""The closed lists of the contract."""

ENERGY_SOURCES = frozenset({"counter", "integrated", "ioreport", "rapl", "amdsmi", "simulated"})
ENERGY_BOUNDARIES = frozenset({"gpu_board", "cpu_package", "soc", "wall"})
LEDGER_PHASES = ("empty_idle", "load", "loaded_idle", "warmup", "items", "tail")
KNOWN_TASKS = frozenset(
    {
        "arith",
        "arith_recorded",
        "gsm8k",
        "gsm8k_platinum",
        "mmlu",
        "mmlu_redux",
        "ifeval",
        "math500",
        "gpqa",
        "gpqa_diamond",
        "hellaswag",
        "longctx_summary",
    }
)
# The tasks whose final answer is short and ours to publish; where the server has the key, it scores again.
SHIPPED_ANSWER_TASKS = frozenset(
    {"arith", "gsm8k", "gsm8k_platinum", "mmlu", "mmlu_redux", "gpqa", "gpqa_diamond", "math500"}
)
