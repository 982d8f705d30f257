"""Blobs that no fact names: what killed writers left behind."""
