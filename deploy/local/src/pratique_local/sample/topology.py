"""Who is where in the lab: private and documentation addresses, some networks crowded, some with a single host."""

from dataclasses import dataclass
from typing import Literal

from pratique_local.sample.frames import Endpoint
from pratique_local.sample.ngap import Cell

FunctionName = Literal["NRF", "AMF", "SMF", "AUSF", "UDM", "PCF", "NSSF", "NEF"]

FUNCTIONS: dict[FunctionName, Endpoint] = {
    "NRF": Endpoint("10.10.1.5", 7777),
    "AMF": Endpoint("10.10.1.10", 7777),
    "SMF": Endpoint("10.10.1.11", 7777),
    "AUSF": Endpoint("10.10.1.12", 80),
    "UDM": Endpoint("10.10.2.20", 80),
    "PCF": Endpoint("10.10.2.21", 7777),
    "NSSF": Endpoint("10.10.2.22", 7777),
    "NEF": Endpoint("10.10.2.23", 80),
}
AMF_N2 = Endpoint(FUNCTIONS["AMF"].ip, 38412)
SMF_IP = FUNCTIONS["SMF"].ip
UPF_IP, EDGE_UPF_IP = "10.10.2.30", "10.10.7.30"


@dataclass(frozen=True)
class Site:
    """A gNB, in one piece or split into a central and a distributed unit."""

    name: str
    ip: str
    cell: Cell
    distributed: str | None = None

    @property
    def upf(self) -> str:
        """The UPF that serves the site: the far one has its own at the edge."""
        return EDGE_UPF_IP if self.cell.area == 7 else UPF_IP


SITES = (
    Site("gnb-0001", "10.20.0.11", Cell(1, 1)),
    Site("gnb-0002", "10.20.0.12", Cell(2, 1)),
    Site("gnb-0003", "10.20.0.13", Cell(3, 1), distributed="10.20.1.13"),
    Site("gnb-0004", "10.20.0.14", Cell(4, 2), distributed="10.20.1.14"),
    Site("gnb-0005", "10.20.0.15", Cell(5, 2), distributed="10.20.1.15"),
    Site("gnb-0007", "10.20.9.5", Cell(7, 7)),
)
REGIONS = {1: "north", 2: "south", 7: "coast"}
"""Regions of the near-RT RIC by tracking area."""
SPARE_UNITS = {"10.20.1.16": "10.20.0.15", "10.20.6.2": "10.20.0.14"}
"""Distributed units that serve nobody yet, and their central units."""

RIC = Endpoint("10.30.0.5", 36421)
SMO_IP, XAPP_IPS = "10.30.0.6", ("10.30.0.21", "10.30.0.22")
E2_NODES = {**{site.ip: site.cell.gnb for site in SITES}, "10.30.8.4": 8}

SGW_IP, PGW_IP = "172.16.4.10", "172.16.5.10"
LTE_SUBSCRIBERS = 6

CENTRAL_SYSTEM = Endpoint("10.40.0.10", 9000)
STATIONS = (
    *(f"10.40.0.{host}" for host in range(101, 110)),
    *(f"10.40.1.{host}" for host in range(21, 25)),
    "10.40.6.9",
)

DNS_IP, NTP_IP = "10.10.9.53", "10.10.9.123"
MANAGEMENT = "10.50.0"
MANAGEMENT_VLAN = 50
WORKSTATIONS = tuple(f"{MANAGEMENT}.{host}" for host in range(31, 37))
MONITOR_IP, SYSLOG_IP = f"{MANAGEMENT}.9", f"{MANAGEMENT}.14"
DASHBOARD_IP = "2001:db8:50::1"
VIEWERS = tuple(f"2001:db8:50::{host:x}" for host in range(0x21, 0x25))
LONE_VIEWER = "2001:db8:99::7"

WEB = {
    "video.example": "198.51.100.10",
    "shop.example": "198.51.100.11",
    "maps.example": "198.51.100.12",
    "mail.example": "203.0.113.25",
    "telemetry.example": "192.0.2.77",
}
UNSEEN_SERVER = "203.0.113.99"
"""A server beyond the tap: its packets are seen inside GTP-U only."""
