"""Retention: captures, datasets and releases go when they have reached the age that the house has set."""
