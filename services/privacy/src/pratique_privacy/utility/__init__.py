"""Utility: what a study of what a classifier still learns is given, and what its units say together."""
