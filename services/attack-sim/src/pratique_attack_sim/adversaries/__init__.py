"""The adversaries: exact expectations and seeded simulations over a matrix of integer codes."""
