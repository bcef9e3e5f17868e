"""Certificates for tests, made by openssl."""
import pathlib
import subprocess


class Authority:
    """A CA and the certificates that it signs, in files."""

    def __init__(self, directory, name):
        self.directory, self.name = pathlib.Path(directory), name
        self.ca, self.ca_key = self.directory / f"{name}.pem", self.directory / f"{name}.key"
        self._openssl("req", "-x509", *self._new_key(self.ca_key), "-subj", f"/CN={name}", "-days", "2", "-out", self.ca)

    @staticmethod
    def _openssl(*words):
        subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, timeout=60)

    @staticmethod
    def _new_key(file):
        return ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", file)

    def signs(self, name, days=2, names="DNS:localhost,IP:127.0.0.1"):
        """The options of a coordinator or worker with such a certificate."""
        key, request, certificate = (self.directory / f"{self.name}-{name}.{end}" for end in ("key", "csr", "pem"))
        extensions = self.directory / "extensions"
        extensions.write_text(f"subjectAltName={names}\n")
        self._openssl("req", *self._new_key(key), "-subj", f"/CN={name}", "-out", request)
        # openssl makes an expired certificate only with a negative number of days.
        self._openssl("x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", self.ca_key, "-CAcreateserial",
                      "-extfile", extensions, f"-days={days}" if days < 0 else "-days", *([] if days < 0 else [days]),
                      "-out", certificate)
        return ("--tls-cert", str(certificate), "--tls-key", str(key))

    def trusted(self):
        return ("--tls-ca", str(self.ca))
