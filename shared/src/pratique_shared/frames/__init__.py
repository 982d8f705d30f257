"""Tables: polars and numpy, pure."""
