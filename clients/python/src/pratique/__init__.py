"""Pratique: how identifiable the people and machines in a network profile still are, asked from Python."""

from pratique.client import Client
from pratique.download import Download
from pratique.errors import (
    DigestMismatch,
    Fault,
    GateFailed,
    LocalFault,
    PratiqueError,
    Refused,
    RunFailed,
    StillRunning,
    Unreachable,
)
from pratique.posture_table import render as render_posture

__all__ = [
    "Client",
    "DigestMismatch",
    "Download",
    "Fault",
    "GateFailed",
    "LocalFault",
    "PratiqueError",
    "Refused",
    "RunFailed",
    "StillRunning",
    "Unreachable",
    "render_posture",
]
