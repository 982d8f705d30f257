"""A release without a service: one capture or table, one policy, on this machine."""
