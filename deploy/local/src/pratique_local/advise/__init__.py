"""Advice to one user, item by item and without a server (Gil, Parra-Arnau and Forné 2025)."""
