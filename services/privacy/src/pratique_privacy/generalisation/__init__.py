"""Optimal generalisation of a profile over a taxonomy (Gil, Parra-Arnau and Forné 2025)."""
