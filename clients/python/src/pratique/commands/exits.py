"""Exit statuses: what a script learns from a command without reading its output."""

OK = 0
ERROR = 1
USAGE = 2
GATE_FAILED = 3
GATE_INDETERMINATE = 4
INTERRUPTED = 130  # 128 + SIGINT, as shells report it
BROKEN_PIPE = 141  # 128 + SIGPIPE


def of_verdict(verdict: object) -> int:
    """Return 0 for pass and 3 for fail; all else, no verdict included, is undecided and no pass."""
    return {"pass": OK, "fail": GATE_FAILED}.get(str(verdict), GATE_INDETERMINATE)
