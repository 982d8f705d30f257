"""Outbound: what this service sends to addresses that its users name, and where it will not go."""
