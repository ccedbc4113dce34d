"""The Debian packages. The server's brings its user, its directories and a confined service."""

from .archives import Entry, deb, directory, gzipped
from .release import DEBIAN, source

MAINTAINER = "The Launchway developers <noreply@launchway.invalid>"
# Where shells look for completions, by the name of the file that the program prints.
COMPLETIONS = {
    "bash": "usr/share/bash-completion/completions/launchway",
    "zsh": "usr/share/zsh/vendor-completions/_launchway",
    "fish": "usr/share/fish/vendor_completions.d/launchway.fish",
}
SERVER_SCRIPTS = ("postinst", "prerm", "postrm")


def debs(release):
    """The packages as names and bytes."""
    if release.system != "linux":
        return
    yield _package(
        release,
        "launchway",
        depends="ca-certificates",
        summary="command line of Launchway: builds, submissions, over-the-air updates",
        description=[
            "Builds mobile apps, submits them to the app stores and publishes over-the-air updates on a Launchway server,",
            "and runs builds as a runner.",
        ],
        entries=list(_command_line(release)),
        control=[],
    )
    yield _package(
        release,
        "launchway-server",
        depends="ca-certificates, init-system-helpers (>= 1.51), passwd, util-linux",
        summary="self-hosted service for mobile apps: builds, submissions, over-the-air updates",
        description=[
            "Builds mobile apps, submits them to the App Store and Google Play, and ships over-the-air updates to",
            "the installed ones. Runs as a service of its own user on port 8787 of the loopback address.",
        ],
        entries=list(_server()),
        control=list(_server_control()),
    )


def _copyright():
    """Debian's list of licenses: MIT in full, and for Apache-2.0 the place where Debian has it."""
    _, _, holder, _, *mit = source("LICENSE-MIT").decode().splitlines()
    lines = "".join(f" {line or '.'}\n" for line in mit)
    apache = " The full text is in /usr/share/common-licenses/Apache-2.0.\n"
    form = "https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/"
    head = f"Format: {form}\nUpstream-Name: Launchway\n\nFiles: *\nCopyright: {holder}\nLicense: MIT or Apache-2.0\n"
    return f"{head}\nLicense: MIT\n{lines}\nLicense: Apache-2.0\n{apache}".encode()


def _command_line(release):
    for name, data in release.generated("man"):
        yield Entry(f"usr/share/man/man1/{name}.gz", gzipped(data))
    for name, data in release.generated("completions"):
        yield Entry(COMPLETIONS[name], data)


def _server():
    yield Entry("usr/lib/systemd/system/launchway-server.service", source("packaging/server/launchway-server.service"))
    yield Entry("usr/sbin/launchway-admin", source("packaging/server/launchway-admin"), 0o755)
    # Both may hold passwords; the package's script gives the group to the service.
    yield directory("etc/launchway", 0o750)
    yield Entry("etc/launchway/launchway-server.toml", source("packaging/server/launchway-server.toml"), 0o640)
    yield Entry("etc/launchway/environment", source("packaging/server/environment"), 0o640)


def _server_control():
    yield Entry("conffiles", b"/etc/launchway/environment\n/etc/launchway/launchway-server.toml\n")
    for name in SERVER_SCRIPTS:
        yield Entry(name, source(f"packaging/deb/launchway-server.{name}"), 0o755)


def _package(release, name, depends, summary, description, entries, control):
    docs = f"usr/share/doc/{name}"
    entries = [
        Entry(f"usr/bin/{name}", release.program(name), 0o755),
        Entry(f"{docs}/copyright", _copyright()),
        Entry(f"{docs}/changelog.gz", gzipped(source("CHANGELOG.md"))),
        *entries,
    ]
    size = sum(len(entry.data or b"") for entry in entries)
    architecture = DEBIAN[release.architecture]
    fields = {
        "Package": name,
        "Version": release.debian_version,
        "Architecture": architecture,
        "Maintainer": MAINTAINER,
        "Installed-Size": str(-(-size // 1024)),
        "Depends": f"libc6 (>= {release.glibc}), {depends}",
        "Section": "devel" if name == "launchway" else "net",
        "Priority": "optional",
        "Description": "\n ".join([summary, *description]),
    }
    text = "".join(f"{field}: {value}\n" for field, value in fields.items())
    file = f"{name}_{release.debian_version}_{architecture}.deb"
    return file, deb([Entry("control", text.encode()), *control], entries, release.epoch, release.compression)
