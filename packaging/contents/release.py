"""A release: its version, its commit, and the programs that were built from it."""

import json
from dataclasses import dataclass
from pathlib import Path

from .archives import RELEASE, Compression, Entry

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAMS = ("launchway", "launchway-server")
# What Rust calls an architecture, and what Debian and Node call it.
DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}
NODE = {"x86_64": "x64", "aarch64": "arm64"}


@dataclass(frozen=True)
class Release:
    """What every package is made from."""

    version: str
    commit: str
    # Of the commit, in seconds: the time of every file.
    epoch: int
    profile: str
    # Such as `x86_64-unknown-linux-gnu`, and the oldest C library that the programs run on, if they need one.
    target: str
    glibc: str
    rustc: str
    # The folder of the programs, their manual pages and completions.
    programs: Path
    compression: Compression = RELEASE

    @staticmethod
    def read(programs, compression=RELEASE):
        """The release that `scripts/release` described in `release.json` beside its programs."""
        facts = json.loads((programs / "release.json").read_text())
        return Release(programs=programs, compression=compression, **facts)

    @property
    def architecture(self):
        """`x86_64` or `aarch64`."""
        return self.target.split("-")[0]

    @property
    def system(self):
        """`linux` or `macos`."""
        return "macos" if "apple" in self.target else "linux"

    @property
    def debian_version(self):
        """Debian's spelling. A commit after the release 0.1.0 has the version `0.1.0-git…`, and sorts after that release."""
        return self.version.replace("-", "+", 1)

    def program(self, name):
        """The bytes of a program."""
        return (self.programs / name).read_bytes()

    def generated(self, folder):
        """Manual pages or completions, if the program could be run where it was built."""
        found = sorted((self.programs / folder).glob("*"))
        return [(path.name, path.read_bytes()) for path in found if path.is_file()]


def source(path):
    """The bytes of a file of the repository."""
    return (ROOT / path).read_bytes()


def licenses(folder=""):
    """Both licenses."""
    return [Entry(f"{folder}{name}", source(name)) for name in ("LICENSE-APACHE", "LICENSE-MIT")]
