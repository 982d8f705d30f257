"""The queue server over TLS: held against the authorities that its URL names, by the name that was dialled."""

import asyncio
import datetime
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from arq.connections import RedisSettings
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from redis.exceptions import ConnectionError as NoConnection

from pratique_local.valkey import socket_of
from pratique_shared.contracts.messages import Message
from pratique_shared.runtime import queues
from tests.support.valkey import PASSWORD, valkey

MESSAGE = Message(task="advance", id="rel_00000000000000000000000000")
DAY = datetime.timedelta(days=1)


def certificate(folder: Path, name: str) -> Path:
    """Make an authority and a certificate of it for `name`; return the file of both keys and certificates."""
    now = datetime.datetime.now(datetime.UTC)
    authority_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "an authority of the tests")])
    common = x509.CertificateBuilder().issuer_name(authority).not_valid_before(now - DAY).not_valid_after(now + DAY)
    issuer = (
        common.subject_name(authority)
        .public_key(authority_key.public_key())
        .serial_number(1)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(authority_key.public_key()), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    served = (
        common.subject_name(x509.Name([]))
        .public_key(key.public_key())
        .serial_number(2)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=True)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key()), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (folder / "ca.crt").write_bytes(issuer.public_bytes(pem))
    plain = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "server.pem").write_bytes(plain + served.public_bytes(pem))
    return folder / "server.pem"


@asynccontextmanager
async def tls_before(socket: Path, pem: Path) -> AsyncIterator[int]:
    """End TLS before a server on a socket; yield the port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_unix_connection(str(socket))
        await asyncio.gather(copy(reader, inner_writer), copy(inner_reader, writer))

    server = await asyncio.start_server(pass_on, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a connection that fails be tried once."""
    settings_of = queues._settings

    def once(url: str) -> RedisSettings:
        settings = settings_of(url)
        settings.conn_retries = 0
        return settings

    monkeypatch.setattr(queues, "_settings", once)


async def test_a_ring_goes_over_tls_and_no_other_authority_and_no_other_name_is_taken(
    tmp_path: Path, impatient: None
) -> None:
    for name in ("good", "other"):
        (tmp_path / name).mkdir()
    good, other = certificate(tmp_path / "good", "localhost"), certificate(tmp_path / "other", "elsewhere.example")
    with valkey(tmp_path):
        async with tls_before(socket_of(tmp_path), good) as port:
            url = f"rediss://:{PASSWORD}@localhost:{port}/0?ssl_ca_certs="
            bell = await queues.connect(url + str(tmp_path / "good/ca.crt"))
            await bell.ring("privacy", MESSAGE)
            assert await bell._redis.zcard("pratique:privacy") == 1
            await bell.close()
            with pytest.raises(NoConnection, match="CERTIFICATE_VERIFY_FAILED"):
                await queues.connect(url + str(tmp_path / "other/ca.crt"))
            with pytest.raises(NoConnection, match="CERTIFICATE_VERIFY_FAILED"):
                await queues.connect(url.partition("?")[0])  # the authorities of the system know nothing of it
        async with tls_before(socket_of(tmp_path), other) as port:
            with pytest.raises(NoConnection, match="Hostname mismatch"):
                await queues.connect(
                    f"rediss://:{PASSWORD}@localhost:{port}/0?ssl_ca_certs={tmp_path / 'other/ca.crt'}"
                )
