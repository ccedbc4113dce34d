"""The tarballs: a program with what it needs to be installed by hand."""

from .archives import Entry, tarball
from .release import licenses, source


def tarballs(release):
    """The archives as names and bytes."""
    platform = f"{release.system}-{release.architecture}"
    for name, more in (("launchway", _command_line(release)), ("launchway-server", _server(release))):
        folder = f"{name}-{release.version}-{platform}"
        entries = [Entry(name, release.program(name), 0o755), *licenses(), *more]
        yield f"{folder}.tar.gz", tarball(entries, release.epoch, folder, release.compression)


def _command_line(release):
    for folder in ("man", "completions"):
        for name, data in release.generated(folder):
            yield Entry(f"{folder}/{name}", data)


def _server(release):
    yield Entry("launchway-server.toml", source("packaging/server/launchway-server.toml"))
    if release.system == "linux":
        yield Entry("launchway-server.service", source("packaging/server/launchway-server.service"))
