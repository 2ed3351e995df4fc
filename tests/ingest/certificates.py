"""A certificate that signs itself. In: the names that it is for. Out: its files, and TLS for a server that shows it."""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Certificate:
    """PEM files of a certificate and of its key."""

    cert_file: str
    key_file: str

    def tls(self) -> ssl.SSLContext:
        """What a server needs to show it."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.cert_file, self.key_file)
        return context


def certificate(folder: Path, *names: str) -> Certificate:
    """Make a certificate for a day.

    Parameters
    ----------
    names : str
        Hosts and addresses; the first one names the files, too.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
    now, day = dt.datetime.now(dt.UTC), dt.timedelta(days=1)
    built = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number(), now - day, now + day)
        .add_extension(x509.SubjectAlternativeName([_name(name) for name in names]), critical=False)
        # Strict checks, which are the default from Python 3.13 on, want an authority to say that it is one.
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(_usage(), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    made = Certificate(str(folder / f"{names[0]}.pem"), str(folder / f"{names[0]}.key"))
    Path(made.cert_file).write_bytes(built.public_bytes(serialization.Encoding.PEM))
    Path(made.key_file).write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return made


def _name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _usage() -> x509.KeyUsage:
    wanted = ("digital_signature", "key_cert_sign")
    others = (
        "content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "crl_sign", "encipher_only",
        "decipher_only",
    )  # fmt: skip
    return x509.KeyUsage(**dict.fromkeys(wanted, True), **dict.fromkeys(others, False))
