"""Archives with the same bytes each time: entries in order, owned by root, with one time, and without the name of a machine."""

import gzip
import io
import lzma
import tarfile
from dataclasses import dataclass


@dataclass(frozen=True)
class Compression:
    """How hard archives are compressed: the levels of gzip and xz."""

    gzip: int
    xz: int


# What users download, and what a trial on this machine packs in a second instead of minutes.
RELEASE, TRIAL = Compression(gzip=9, xz=6), Compression(gzip=1, xz=0)


@dataclass(frozen=True)
class Entry:
    """A file, or a directory without `data`. `path` has no leading slash."""

    path: str
    data: bytes | None
    mode: int = 0o644


def directory(path, mode=0o755):
    """A directory."""
    return Entry(path.rstrip("/"), None, mode)


def tar(entries, epoch, prefix=""):
    """A tar archive of the entries and the directories above them, all with the time `epoch`."""
    known = {entry.path: entry for entry in entries}
    if len(known) != len(entries):
        raise ValueError("two entries have one path")
    for entry in entries:
        above = entry.path.split("/")[:-1]
        for depth in range(1, len(above) + 1):
            parent = "/".join(above[:depth])
            known.setdefault(parent, directory(parent))
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(known):
            archive.addfile(*_member(known[path], epoch, prefix))
    return out.getvalue()


def _member(entry, epoch, prefix):
    member = tarfile.TarInfo(prefix + entry.path)
    member.mtime, member.mode = epoch, entry.mode
    member.uname = member.gname = "root"
    if entry.data is None:
        member.type = tarfile.DIRTYPE
        return member, None
    member.size = len(entry.data)
    return member, io.BytesIO(entry.data)


def gzipped(data, level=RELEASE.gzip):
    """Compressed with gzip, without a name and a time."""
    out = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=level, fileobj=out, mtime=0) as file:
        file.write(data)
    return out.getvalue()


def tarball(entries, epoch, folder, compression):
    """A `.tar.gz` that unpacks into one folder."""
    inside = [Entry(f"{folder}/{entry.path}", entry.data, entry.mode) for entry in entries]
    return gzipped(tar(inside, epoch), compression.gzip)


def deb(control, entries, epoch, compression):
    """A Debian package: the files of `control`, and the entries that it installs below `/`."""
    members = [
        ("debian-binary", b"2.0\n"),
        ("control.tar.gz", gzipped(tar(control, epoch, prefix="./"))),
        # xz, which every supported release of Debian and Ubuntu reads; one thread, because several make other blocks.
        ("data.tar.xz", lzma.compress(tar(entries, epoch, prefix="./"), preset=compression.xz)),
    ]
    out = bytearray(b"!<arch>\n")
    for name, data in members:
        out += f"{name:<16}{epoch:<12}{0:<6}{0:<6}{0o100644:<8o}{len(data):<10}`\n".encode()
        out += data + b"\n" * (len(data) % 2)
    return bytes(out)
