"""Certificates for localhost and other names, valid and invalid, made by the openssl command."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path

_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

_CONFIG = """
[ca]
default_ca = own
[own]
database = {folder}/index
serial = {folder}/serial
new_certs_dir = {folder}
certificate = {folder}/ca.pem
private_key = {folder}/ca.key
default_md = sha256
policy = any
copy_extensions = copy
unique_subject = no
[any]
commonName = supplied
"""


class Certificates:
    """A CA and the certificates it has signed. bundle: the file with the CA certificate that a client trusts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.bundle = folder / "ca.pem"
        (folder / "index").touch()
        (folder / "serial").write_text("1000\n")
        (folder / "ca.cnf").write_text(_CONFIG.format(folder=folder))
        self._openssl(
            *["req", "-x509", *_KEY, "-days", "2", "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem"],
            *["-addext", "keyUsage=critical,keyCertSign,cRLSign"],  # required by Python's ssl since 3.13
        )
        self.good = self._signed("good", "localhost", "20200101000000Z", "20490101000000Z")
        self.tls12 = self._context("good")
        self.tls12.maximum_version = ssl.TLSVersion.TLSv1_2
        self.tls13 = self._context("good")
        self.tls13.minimum_version = ssl.TLSVersion.TLSv1_3
        self.http2 = self._context("good")
        self.http2.set_alpn_protocols(["h2"])
        self.both = self._context("good")
        self.both.set_alpn_protocols(["h2", "http/1.1"])
        self.expired = self._signed("expired", "localhost", "20200101000000Z", "20210101000000Z")
        self.not_yet = self._signed("not_yet", "localhost", "20480101000000Z", "20490101000000Z")
        self.other_host = self._signed("other_host", "elsewhere.example", "20200101000000Z", "20490101000000Z")

    def files(self, name: str) -> tuple[Path, Path]:
        """Returns the files of a certificate and of its key."""
        return self._folder / f"{name}.pem", self._folder / f"{name}.key"

    def for_address(self, address: str) -> ssl.SSLContext:
        """Returns the context of a server with this IP address."""
        return self._signed("address", address, "20200101000000Z", "20490101000000Z", names=f"IP:{address}")

    def folder_of_hashes(self) -> Path:
        """Makes a folder in which OpenSSL finds the CA by a file that is named after the hash of the CA's name."""
        folder = self._folder / "hashes"
        folder.mkdir(exist_ok=True)
        (folder / "ca.pem").write_bytes(self.bundle.read_bytes())
        self._openssl("rehash", "hashes")
        return folder

    def _signed(self, name: str, host: str, begin: str, end: str, names: str | None = None) -> ssl.SSLContext:
        self._openssl("req", "-new", *_KEY, *_name(host, names), "-keyout", f"{name}.key", "-out", f"{name}.csr")
        self._openssl(
            *["ca", "-batch", "-notext", "-config", "ca.cnf", "-in", f"{name}.csr", "-out", f"{name}.pem"],
            *["-startdate", begin, "-enddate", end],
        )
        return self._context(name)

    def _context(self, name: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._folder / f"{name}.pem", self._folder / f"{name}.key")
        return context

    def _openssl(self, *arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=self._folder, check=True, capture_output=True)


def _name(host: str, names: str | None = None) -> list[str]:
    """Returns the arguments of openssl that set the subject. names: subject alternative names, by default the host;
    empty for none."""
    names = f"DNS:{host}" if names is None else names
    return ["-subj", f"/CN={host}", *(["-addext", f"subjectAltName={names}"] if names else [])]
