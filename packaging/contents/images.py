"""The context of the container image: the program, and the Dockerfile that puts it on a base."""

from .archives import Entry, directory, tarball
from .release import licenses, source


def images(release):
    """The archive as name and bytes."""
    if release.system != "linux":
        return
    folder = f"launchway-server-{release.version}-image-{release.architecture}"
    entries = [
        Entry("Dockerfile", source("packaging/docker/Dockerfile")),
        Entry("launchway-server", release.program("launchway-server"), 0o755),
        directory("data", 0o700),
        *licenses(),
    ]
    yield f"{folder}.tar.gz", tarball(entries, release.epoch, folder, release.compression)
