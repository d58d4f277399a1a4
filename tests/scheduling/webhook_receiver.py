"""A receiver of webhooks on loopback, with a certificate for the name that it is called by."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HOST = "hooks.example.org"
OK = b"HTTP/1.1 204 No Content\r\n\r\n"


def make_certificate(folder: Path) -> Path:
    """Write a self-signed certificate with its key into one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = folder / "hooks.pem"
    file.write_bytes(made.public_bytes(serialization.Encoding.PEM) + private)
    return file


@dataclass
class Receiver:
    """What came in: the name in the TLS greeting, and the whole request."""

    port: int
    names: list[str | None] = field(default_factory=list)
    requests: list[bytes] = field(default_factory=list)


@contextmanager
def receiver(certificate: Path, answer: Callable[[ssl.SSLSocket], None]) -> Iterator[Receiver]:
    """Accept connections until the block ends; `answer` writes what is answered."""
    listener = socket.create_server(("127.0.0.1", 0))
    found = Receiver(listener.getsockname()[1])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.sni_callback = lambda _socket, name, _context: found.names.append(name)
    thread = threading.Thread(target=_serve, args=(listener, context, found, answer))
    thread.start()
    try:
        yield found
    finally:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


def _serve(
    listener: socket.socket, context: ssl.SSLContext, found: Receiver, answer: Callable[[ssl.SSLSocket], None]
) -> None:
    while True:
        try:
            plain, _ = listener.accept()
        except OSError:
            return
        with suppress(OSError), context.wrap_socket(plain, server_side=True) as secure:
            secure.settimeout(5)
            found.requests.append(_request(secure))
            answer(secure)


def _request(secure: ssl.SSLSocket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data or len(data.partition(b"\r\n\r\n")[2]) < _length(data):
        part = secure.recv(65536)
        if not part:
            break
        data += part
    return data


def _length(data: bytes) -> int:
    for line in data.partition(b"\r\n\r\n")[0].split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0
