"""The outside: the only code that knows Redis, arq, the store, the clock and the log."""
