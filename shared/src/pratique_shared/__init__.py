"""Contracts, frames and runtime that the services of Pratique share."""
