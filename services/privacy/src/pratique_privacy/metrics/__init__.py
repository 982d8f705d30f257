"""Metrics: what a table says about the records in it."""
