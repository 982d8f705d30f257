"""A Flower app that trains on a Pratique release."""
