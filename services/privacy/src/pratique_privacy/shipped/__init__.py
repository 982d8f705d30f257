"""Shipped: files that leave as they stand here, inside a bundle."""
