"""Notices: what happened here, told to whoever asked to hear of it, at least once."""
