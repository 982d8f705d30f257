"""Pratique: how identifiable the people and machines in a network profile still are, asked from Python."""

from pratique.clearance import Clearance
from pratique.client import AsyncClient, Client
from pratique.download import Download
from pratique.errors import (
    DigestMismatch,
    Fault,
    GateFailed,
    LocalFault,
    NotCertified,
    PratiqueError,
    Refused,
    RunFailed,
    StillRunning,
    Unreachable,
)
from pratique.posture_table import render as render_posture
from pratique.profile import Profile

__all__ = [
    "AsyncClient",
    "Clearance",
    "Client",
    "DigestMismatch",
    "Download",
    "Fault",
    "GateFailed",
    "LocalFault",
    "NotCertified",
    "PratiqueError",
    "Profile",
    "Refused",
    "RunFailed",
    "StillRunning",
    "Unreachable",
    "render_posture",
]
