"""Which start of the machine this is."""


def boot_id() -> str:
    """Changes with every start of the machine; `""` where the system has no such thing."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as source:
            return source.read().strip()
    except OSError:
        return ""
