"""The dashboard: pages that call the public API, and nothing else."""
