"""NVML's bit mask of reasons for which the clocks are not at their maximum, and its words."""

GPU_IDLE = 0x1
APPLICATIONS_CLOCKS = 0x2
SW_POWER_CAP = 0x4
HW_SLOWDOWN = 0x8
SYNC_BOOST = 0x10
SW_THERMAL = 0x20
HW_THERMAL = 0x40
HW_POWER_BRAKE = 0x80
DISPLAY_CLOCK = 0x100
THERMAL_THROTTLE = HW_SLOWDOWN | SW_THERMAL | HW_THERMAL | HW_POWER_BRAKE

WORDS = {
    GPU_IDLE: "gpuidle",
    APPLICATIONS_CLOCKS: "applications_clocks",
    SW_POWER_CAP: "sw_power_cap",
    HW_SLOWDOWN: "hw_slowdown",
    SYNC_BOOST: "sync_boost",
    SW_THERMAL: "sw_thermal",
    HW_THERMAL: "hw_thermal",
    HW_POWER_BRAKE: "hw_power_brake",
    DISPLAY_CLOCK: "display_clock",
}


def throttle_words(mask: int) -> str:
    """The reasons with commas, `none` without any; the mask itself as 0x… where a bit has no word."""
    if mask & ~sum(WORDS):
        return f"{mask:#x}"
    return ",".join(word for bit, word in WORDS.items() if mask & bit) or "none"
