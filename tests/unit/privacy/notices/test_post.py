"""Posts over real sockets: pinned, without redirects, within time and size."""

import datetime as dt
import ssl
import subprocess
import sys
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from pratique_privacy.outbound.addresses import Address, Allowed
from pratique_privacy.outbound.post import Outbound, look_up
from tests.support.receiver import receiver

LOOPBACK = Allowed.parse("127.0.0.0/8")
NAME = "hooks.example.com"


def certificate(folder: Path, name: str) -> Path:
    """A self-signed certificate for a name, with its key, as one PEM file."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    path = folder / f"{name}.pem"
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + key.private_bytes(*form))
    return path


def server_tls(pem: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    return context


async def to_loopback(host: str, port: int) -> list[Address]:
    return [IPv4Address("127.0.0.1")]


async def test_the_checked_address_is_connected_to_and_the_certificate_is_held_against_the_name(
    tmp_path: Path,
) -> None:
    pem = certificate(tmp_path, NAME)
    out = Outbound(LOOPBACK, resolve=to_loopback, tls=ssl.create_default_context(cafile=pem))
    async with receiver(server_tls(pem)) as there:
        answered = await out.post(f"https://{NAME}:{there.port}/a?b=c", b"{}", {"webhook-id": "1"})
        assert (answered.status, answered.error, answered.accepted) == (204, None, True)
        wrong = await out.post(f"https://other.example.com:{there.port}/", b"{}", {})
    await out.close()
    assert (wrong.status, wrong.error) == (None, "tls-refused")
    (taken,) = there.taken
    assert taken.target == "/a?b=c"
    assert taken.headers["host"] == f"{NAME}:{there.port}"
    assert taken.headers["webhook-id"] == "1"


async def test_a_name_is_looked_up_once_so_that_a_second_answer_changes_nothing() -> None:
    asked = []

    async def rebinding(host: str, port: int) -> list[Address]:
        asked.append(host)
        return [IPv4Address("8.8.8.8" if len(asked) == 1 else "127.0.0.1")]

    out = Outbound(Allowed(), resolve=rebinding, whole=0.2)
    answered = await out.post("https://rebinding.example.com/", b"{}", {})
    await out.close()
    assert (answered.status, len(asked)) == (None, 1)


async def test_what_leads_inside_is_not_connected_to() -> None:
    out = Outbound(Allowed(), resolve=to_loopback)
    async with receiver() as there:
        answered = await out.post(f"https://{NAME}:{there.port}/", b"{}", {})
        plain = await out.post(there.url, b"{}", {})
    await out.close()
    assert (answered.error, plain.error, there.taken) == ("address-not-allowed", "address-not-allowed", [])


async def test_a_redirect_is_an_answer_and_is_not_followed() -> None:
    out = Outbound(LOOPBACK)
    async with receiver() as there:
        there.turns = [302]
        answered = await out.post(there.url, b"{}", {})
    await out.close()
    assert (answered.status, answered.accepted, len(there.taken)) == (302, False, 1)


async def test_an_answer_without_end_is_cut_off() -> None:
    out = Outbound(LOOPBACK)
    async with receiver() as there:
        there.extra = bytes(64 << 10)
        answered = await out.post(there.url, b"{}", {})
    await out.close()
    assert answered.status == 204
    assert answered.milliseconds < 2000


@pytest.mark.parametrize("host", ["127.0.0.1", NAME])
async def test_who_takes_too_long_is_left(host: str) -> None:
    out = Outbound(LOOPBACK, resolve=to_loopback, whole=0.1)
    async with receiver() as there:
        there.delay = 1.0
        answered = await out.post(f"http://{host}:{there.port}/", b"{}", {})
    await out.close()
    assert (answered.status, answered.error) == (None, "timed-out")


async def test_nobody_there_is_told_by_a_code() -> None:
    out = Outbound(LOOPBACK)
    answered = await out.post("http://127.0.0.1:9/", b"{}", {})
    await out.close()
    assert (answered.status, answered.error) == (None, "no-connection")
    assert await look_up("nowhere.invalid", 443) == []


LOGGED_POST = """
import asyncio, logging
from pratique_privacy.outbound.addresses import Allowed
from pratique_privacy.outbound.post import Outbound
from pratique_shared.runtime.telemetry import log_as_json
from tests.support.receiver import receiver

async def main():
    log_as_json("INFO")
    logging.getLogger("pratique.courier").info("before the post")
    out = Outbound(Allowed.parse("127.0.0.0/8"))
    async with receiver() as there:
        print(await out.post(f"http://127.0.0.1:{there.port}/services/T0/hook-secret?token=hunter2", b"{}", {}))
    await out.close()

asyncio.run(main())
"""


def test_a_post_leaves_neither_path_nor_query_of_its_address_in_the_log() -> None:
    done = subprocess.run([sys.executable, "-c", LOGGED_POST], capture_output=True, text=True, timeout=30, check=True)
    assert "status=204" in done.stdout
    assert "before the post" in done.stderr  # records at INFO are written
    for secret in ("services", "hook-secret", "token", "hunter2"):
        assert secret not in done.stderr
