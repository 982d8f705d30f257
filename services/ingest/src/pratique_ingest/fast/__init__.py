"""The fast path: ordinary frames counted by columns, and all others left to the exact path, with the same result."""
