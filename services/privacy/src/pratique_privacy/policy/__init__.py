"""Policies: what a release does to each column, and the refusal of what cannot stand."""
