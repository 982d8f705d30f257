"""Utility: how well a classifier of the labels still learns from what suppression leaves."""
