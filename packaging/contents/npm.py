"""The npm packages of the command line: one with the program for each platform, and one that starts whichever of them npm
installed, because its system and processor fit."""

import json

from .archives import Entry, gzipped, tar
from .release import NODE, licenses, source

NAME = "@launchway/cli"
# Every platform of a release. npm installs the one that fits, and ignores the others.
PLATFORMS = ("darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64")


def npm_packages(release):
    """The archives of this platform's package and of the launcher, as names and bytes."""
    system = "darwin" if release.system == "macos" else "linux"
    node = NODE[release.architecture]
    platform = {
        "name": f"{NAME}-{system}-{node}",
        "description": f"The command line of Launchway for {system} on {node}; install {NAME} instead",
        "os": [system],
        "cpu": [node],
        **({"libc": ["glibc"]} if system == "linux" else {}),
        "files": ["bin"],
        # A package that is unpacked only when it is needed would lose its executable bit.
        "preferUnplugged": True,
    }
    program = Entry("bin/launchway", release.program("launchway"), 0o755)
    yield _package(release, platform, [program])
    launcher = {
        "name": NAME,
        "description": "The command line of Launchway: builds, submissions and over-the-air updates of mobile apps",
        "bin": {"launchway": "bin/launchway.mjs"},
        "files": ["bin"],
        "engines": {"node": ">=18"},
        "optionalDependencies": {f"{NAME}-{platform}": release.version for platform in PLATFORMS},
    }
    start = Entry("bin/launchway.mjs", source("packaging/npm/launchway.mjs"), 0o755)
    yield _package(release, launcher, [start, Entry("README.md", source("packaging/npm/README.md"))])


def _package(release, manifest, entries):
    name = manifest["name"]
    manifest = {"name": name, "version": release.version, "license": "MIT OR Apache-2.0", **manifest}
    text = json.dumps(manifest, indent=2) + "\n"
    entries = [Entry("package.json", text.encode()), *licenses(), *entries]
    file = f"{name.removeprefix('@').replace('/', '-')}-{release.version}.tgz"
    inside = [Entry(f"package/{entry.path}", entry.data, entry.mode) for entry in entries]
    return file, gzipped(tar(inside, release.epoch), release.compression.gzip)
