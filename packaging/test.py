#!/usr/bin/env python3
"""Tests of the packaging with stand-ins for the programs: what is in each package, and that the bytes are the same each time."""

import hashlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True

from contents.npm import PLATFORMS
from contents.release import ROOT
from contents.sbom import linked

VERSION = "0.1.0-git202611230000.0a1b2c3d"
PROGRAM = '#!/bin/sh\n[ "$1" = wait ] && { trap "exit 7" TERM; echo ready; sleep 60 & wait; }\necho "$@"\nexit 5\n'


def stand_ins(folder):
    """A folder as scripts/release leaves it."""
    for name in ("man", "completions"):
        (folder / name).mkdir(parents=True)
    for name in ("launchway", "launchway-server", "man/launchway.1", *(f"completions/{shell}" for shell in ("bash", "fish", "zsh"))):
        (folder / name).write_text(PROGRAM)
    metadata = ["cargo", "metadata", "--locked", "--offline", "--format-version", "1", "--filter-platform", "x86_64-unknown-linux-gnu"]
    (folder / "metadata.json").write_bytes(subprocess.run(metadata, cwd=ROOT, check=True, capture_output=True).stdout)
    facts = {"version": VERSION, "commit": "0a1b2c3d" * 5, "epoch": 1700000000, "profile": "dist", "glibc": "2.28"}
    facts |= {"target": "x86_64-unknown-linux-gnu", "rustc": "1.95.0"}
    (folder / "release.json").write_text(json.dumps(facts))


def pack(programs, out, *more, umask=0o022):
    """All files of a release, by name."""
    command = [sys.executable, str(ROOT / "packaging/pack"), str(programs), str(out), *more]
    subprocess.run(command, check=True, capture_output=True, umask=umask)
    return {path.name: path.read_bytes() for path in out.iterdir()}


def deb_members(data):
    """The members of a Debian package: of its control archive, and of its data."""
    assert data.startswith(b"!<arch>\n")
    found, at = [], 8
    while at < len(data):
        header = data[at : at + 60]
        name, size = header[:16].decode().strip(), int(header[48:58])
        found.append((name, data[at + 60 : at + 60 + size]))
        at += 60 + size + size % 2
    names = [name for name, _ in found]
    assert names == ["debian-binary", "control.tar.gz", "data.tar.xz"], names
    return members(found[1][1]), members(found[2][1])


def members(archive):
    """Members of a tar archive by name, with their bytes."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return {member.name: (member, tar.extractfile(member).read() if member.isfile() else None) for member in tar}


def contents(*archives):
    """Names, modes and bytes of the members."""
    return [(name, member.mode, data) for archive in archives for name, (member, data) in archive.items()]


class Packages(unittest.TestCase):
    """The files of one release."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        base = Path(cls.folder.name)
        cls.programs = base / "programs"
        stand_ins(cls.programs)
        cls.files = pack(cls.programs, base / "out")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_the_same_programs_make_the_same_bytes(self):
        for path in self.programs.rglob("*"):
            os.utime(path, (1, 1))
        again = pack(self.programs, Path(self.folder.name) / "again", umask=0o077)
        self.assertEqual(sorted(again), sorted(self.files))
        for name, data in self.files.items():
            self.assertEqual(hashlib.sha256(again[name]).digest(), hashlib.sha256(data).digest(), name)

    def test_a_trial_contains_the_same_as_the_release(self):
        trial = pack(self.programs, Path(self.folder.name) / "trial", "--trial", "--only", "debs", "tarballs", "npm")
        for name, data in trial.items():
            if name.endswith(".deb"):
                self.assertEqual(contents(*deb_members(data)), contents(*deb_members(self.files[name])), name)
            elif name.endswith((".tgz", ".tar.gz")):
                self.assertEqual(contents(members(data)), contents(members(self.files[name])), name)

    def test_every_file_belongs_to_root_and_has_the_time_of_the_commit(self):
        archives = [members(data) for name, data in self.files.items() if name.endswith((".tgz", ".tar.gz"))]
        for name, data in self.files.items():
            if name.endswith(".deb"):
                archives += deb_members(data)
        self.assertEqual(len(archives), 9)
        for archive in archives:
            self.assertEqual(list(archive), sorted(archive))
            for member, _ in archive.values():
                self.assertEqual((member.uid, member.gid, member.uname, member.mtime), (0, 0, "root", 1700000000), member.name)
                self.assertFalse(member.mode & 0o7022, member.name)

    def test_a_package_of_the_server_brings_a_confined_service(self):
        control, data = deb_members(self.files["launchway-server_0.1.0+git202611230000.0a1b2c3d_amd64.deb"])
        fields = dict(re.findall(r"^(\S+): (.*)$", control["./control"][1].decode(), re.M))
        self.assertEqual((fields["Package"], fields["Architecture"]), ("launchway-server", "amd64"))
        self.assertIn("libc6 (>= 2.28)", fields["Depends"])
        modes = {name: oct(member.mode) for name, (member, _) in data.items() if member.isfile()}
        self.assertEqual(
            modes,
            {
                "./etc/launchway/environment": "0o640",
                "./etc/launchway/launchway-server.toml": "0o640",
                "./usr/bin/launchway-server": "0o755",
                "./usr/lib/systemd/system/launchway-server.service": "0o644",
                "./usr/sbin/launchway-admin": "0o755",
                "./usr/share/doc/launchway-server/changelog.gz": "0o644",
                "./usr/share/doc/launchway-server/copyright": "0o644",
            },
        )
        conffiles = control["./conffiles"][1].decode().splitlines()
        self.assertEqual(conffiles, [name[1:] for name in modes if name.startswith("./etc/")])
        for script in ("./postinst", "./prerm", "./postrm"):
            self.assertEqual(control[script][0].mode, 0o755)

    def test_a_package_of_the_command_line_brings_manual_and_completions(self):
        _, data = deb_members(self.files["launchway_0.1.0+git202611230000.0a1b2c3d_amd64.deb"])
        found = [name for name, (member, _) in data.items() if member.isfile() and "/doc/" not in name]
        self.assertEqual(
            found,
            [
                "./usr/bin/launchway",
                "./usr/share/bash-completion/completions/launchway",
                "./usr/share/fish/vendor_completions.d/launchway.fish",
                "./usr/share/man/man1/launchway.1.gz",
                "./usr/share/zsh/vendor-completions/_launchway",
            ],
        )

    def test_sums_and_provenance_name_every_file(self):
        sums = dict(line.split("  ")[::-1] for line in self.files["SHA256SUMS"].decode().splitlines())
        digests = {name: hashlib.sha256(data).hexdigest() for name, data in self.files.items() if name != "SHA256SUMS"}
        self.assertEqual(sums, digests)
        statement = json.loads(self.files["provenance-linux-x86_64.intoto.json"])
        subjects = {subject["name"]: subject["digest"]["sha256"] for subject in statement["subject"]}
        del digests["provenance-linux-x86_64.intoto.json"]
        self.assertEqual(subjects, digests)
        self.assertEqual(statement["predicateType"], "https://slsa.dev/provenance/v1")
        commit = statement["predicate"]["buildDefinition"]["resolvedDependencies"][0]["digest"]["gitCommit"]
        self.assertEqual(commit, "0a1b2c3d" * 5)

    def test_a_bill_of_materials_lists_what_is_compiled_in(self):
        bom = json.loads(self.files[f"launchway-server-{VERSION}-linux-x86_64.cdx.json"])
        names = {component["name"] for component in bom["components"]}
        self.assertLessEqual({"launchway-store", "libsqlite3-sys", "ring", "tokio", "rust-std"}, names)
        for only_in_tests in ("insta", "proptest", "launchway-testing", "s3s"):
            self.assertNotIn(only_in_tests, names)
        refs = {component["bom-ref"] for component in bom["components"]} | {bom["metadata"]["component"]["bom-ref"]}
        for entry in bom["dependencies"]:
            self.assertLessEqual({entry["ref"], *entry["dependsOn"]}, refs)
        foreign = [component for component in bom["components"] if not component["name"].startswith(("launchway-", "rust-std"))]
        for component in foreign:
            self.assertIn("hashes", component, component["name"])
            self.assertIn("licenses", component, component["name"])
        metadata = json.loads((self.programs / "metadata.json").read_text())
        _, graph = linked(metadata, "launchway-server")
        self.assertEqual(len(graph), len(bom["components"]))

    def test_an_image_runs_as_another_user_than_root(self):
        archive = members(self.files[f"launchway-server-{VERSION}-image-x86_64.tar.gz"])
        folder = f"launchway-server-{VERSION}-image-x86_64"
        lines = archive[f"{folder}/Dockerfile"][1].decode().splitlines()
        self.assertIn("USER 65532:65532", lines)
        self.assertFalse([line for line in lines if line.startswith(("RUN", "ADD"))])
        for line in lines:
            if line.startswith("COPY"):
                for source in [word for word in line.split()[1:-1] if not word.startswith("--")]:
                    self.assertIn(f"{folder}/{source}", archive)


class Npm(unittest.TestCase):
    """The npm packages, installed by unpacking them."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        base = Path(folder.name)
        stand_ins(base / "programs")
        self.files = pack(base / "programs", base / "out")
        self.modules = base / "node_modules/@launchway"
        node = "const p=process;console.log(`${p.platform}-${p.arch}`)"
        here = subprocess.run(["node", "-e", node], check=True, capture_output=True, text=True).stdout.strip()
        self.unpack(f"launchway-cli-{VERSION}.tgz", "cli")
        self.unpack(f"launchway-cli-linux-x64-{VERSION}.tgz", f"cli-{here}")
        self.platform = self.modules / f"cli-{here}"
        self.launcher = ["node", str(self.modules / "cli/bin/launchway.mjs")]

    def unpack(self, archive, name):
        for path, (member, data) in members(self.files[archive]).items():
            to = self.modules / name / path.removeprefix("package").lstrip("/")
            if data is None:
                to.mkdir(parents=True, exist_ok=True)
            else:
                to.write_bytes(data)
                to.chmod(member.mode)

    def test_the_launcher_knows_the_platforms_of_the_packages(self):
        manifest = json.loads((self.modules / "cli/package.json").read_text())
        expected = {f"@launchway/cli-{platform}": VERSION for platform in PLATFORMS}
        self.assertEqual(manifest["optionalDependencies"], expected)
        text = (self.modules / "cli/bin/launchway.mjs").read_text()
        self.assertEqual(tuple(re.findall(r"'(\w+-\w+)'", text.split("supported = [")[1].split("]")[0])), PLATFORMS)
        manifest = json.loads((self.platform / "package.json").read_text())
        self.assertEqual((manifest["os"], manifest["cpu"], manifest["libc"]), (["linux"], ["x64"], ["glibc"]))

    def test_arguments_output_and_exit_code_are_the_programs(self):
        ran = subprocess.run([*self.launcher, "a b", "--c"], capture_output=True, text=True)
        self.assertEqual((ran.returncode, ran.stdout), (5, "a b --c\n"))

    def test_a_signal_reaches_the_program(self):
        with subprocess.Popen([*self.launcher, "wait"], stdout=subprocess.PIPE, text=True) as running:
            self.assertEqual(running.stdout.readline(), "ready\n")
            running.send_signal(signal.SIGTERM)
            self.assertEqual(running.wait(), 7)

    def test_without_the_package_of_the_platform_a_hint_is_printed(self):
        (self.platform / "bin/launchway").unlink()
        ran = subprocess.run([*self.launcher, "--version"], capture_output=True, text=True)
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertIn("is not installed\nhint: install @launchway/cli again", ran.stderr)


if __name__ == "__main__":
    unittest.main()
