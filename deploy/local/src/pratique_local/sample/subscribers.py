"""Subscribers of the lab: invented identities in the test network 001/01."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from random import Random

MCC, MNC = "001", "01"
PLMN = bytes.fromhex("00f110")
AMF_REGION, AMF_SET, AMF_POINTER = 0x02, 0x001, 0x00
ROUTING_INDICATOR = "0000"
MOST_SUBSCRIBERS = 240


class Concealment(Enum):
    """How a subscriber names itself when it arrives (3GPP TS 23.003 §2.2B, TS 33.501 annex C)."""

    NULL = "null"
    ECIES = "ecies"
    GUTI = "guti"
    LOST_GUTI = "lost_guti"
    """A 5G-GUTI that the AMF does not know any more: it asks for the SUCI."""


@dataclass(frozen=True)
class Slice:
    """A network slice: its S-NSSAI and the data network behind it."""

    sst: int
    sd: int
    dnn: str

    def octets(self) -> bytes:
        """Return SST and SD as NAS and NGAP send them."""
        return bytes([self.sst]) + self.sd.to_bytes(3)


SLICES = (
    Slice(1, 0x000001, "internet"),
    Slice(1, 0x00A010, "ims"),
    Slice(2, 0x000B01, "urllc"),
    Slice(3, 0x000C05, "iot"),
)
ORAN_SLICES = (
    Slice(1, 0x010011, "internet"),
    Slice(1, 0x010012, "internet"),
    Slice(2, 0x020021, "urllc"),
    Slice(2, 0x020022, "urllc"),
    Slice(3, 0x030031, "iot"),
    Slice(3, 0x030032, "iot"),
)
"""Two slices of each kind: the first octet of the differentiator says which kind, the rest which customer's."""
# Most subscribers share the broadband slice; the others are few enough to stand out.
_SLICE_OF = (0, 0, 1, 0, 3, 0, 0, 2)


@dataclass(frozen=True)
class Subscriber:
    """One person or machine with a SIM of the lab."""

    number: int
    imsi: str = field(repr=False)
    msisdn: str = field(repr=False)
    imeisv: str = field(repr=False)
    concealed: bytes = field(repr=False)
    """Scheme output of profile A: ephemeral key (32), ciphertext (5), tag (8); drawn at random, it hides nothing."""
    old_tmsi: int = field(repr=False)
    tmsi: int = field(repr=False)
    later_tmsi: int = field(repr=False)
    """What it is called once its 5G-GUTI was given anew during a registration."""
    ciphered: bool
    """Whether its NAS is ciphered once the security mode is set; what is null-ciphered can be read."""
    reduced: bool
    """A device of reduced capability (RedCap), such as a sensor or a wearable."""
    concealment: Concealment
    slice: Slice
    address: str
    """The address that its PDU session has, seen inside GTP-U and on the way to the data network."""

    @property
    def msin(self) -> str:
        """The IMSI without country and network."""
        return self.imsi[len(MCC + MNC) :]

    @property
    def suci(self) -> str:
        """The concealed identity in the text form of TS 29.571 §5.3.2."""
        if self.concealment is Concealment.ECIES:
            return f"suci-0-{MCC}-{MNC}-{ROUTING_INDICATOR}-1-1-{self.concealed.hex()}"
        return f"suci-0-{MCC}-{MNC}-{ROUTING_INDICATOR}-0-0-{self.msin}"


def guti_text(tmsi: int) -> str:
    """Return a 5G-GUTI as mcc-mnc-region-set-pointer-tmsi, the last four in hex."""
    return f"{MCC}-{MNC}-{AMF_REGION:02x}-{AMF_SET:03x}-{AMF_POINTER:02x}-{tmsi:08x}"


def _address(number: int, chosen: Slice) -> str:
    # Machines and the latency-critical line have networks of their own, so some prefixes are rare.
    network = {2: 9, 3: 1}.get(chosen.sst, 0)
    return f"10.45.{network}.{number + 1}"


def draw_subscribers(
    chance: Random, count: int, slices: Sequence[Slice] | None = None, reduced: int = MOST_SUBSCRIBERS + 1
) -> Iterator[Subscriber]:
    """Draw `count` subscribers; who they are is fixed, what is random about them comes from `chance`.

    With `slices` each takes the next one of them; those from number `reduced` on are RedCap devices.
    """
    arrivals = (
        Concealment.NULL,
        Concealment.ECIES,
        Concealment.GUTI,
        Concealment.NULL,
        Concealment.ECIES,
        Concealment.LOST_GUTI,
    )
    # 28 bits, so that no draw is the all-zero or the all-one TMSI.
    tmsis = iter(chance.sample(range(0x1000_0000, 0xF000_0000), 3 * count))
    for number in range(1, count + 1):
        chosen = SLICES[_SLICE_OF[number % len(_SLICE_OF)]] if slices is None else slices[(number - 1) % len(slices)]
        old_tmsi, tmsi, later_tmsi = islice(tmsis, 3)
        yield Subscriber(
            number=number,
            imsi=f"{MCC}{MNC}{number:010d}",
            msisdn=f"447700900{number:03d}",  # Ofcom keeps 07700 900000 to 900999 for drama
            imeisv=f"00101700{100000 + 7 * number:06d}01",  # TAC of the test range 001017
            concealed=chance.randbytes(45),
            old_tmsi=old_tmsi,
            tmsi=tmsi,
            later_tmsi=later_tmsi,
            ciphered=number % len(arrivals) == 4,
            reduced=number >= reduced,
            concealment=arrivals[number % len(arrivals)],
            slice=chosen,
            address=_address(number, chosen),
        )
