"""Sweeps: what many releases say together of their configurations and of the posture index."""
