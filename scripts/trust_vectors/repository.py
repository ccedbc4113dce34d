"""A repository in Launchway's profile, written and signed by python-tuf."""

import copy
import hashlib
import json
from datetime import datetime, timedelta, timezone

from securesystemslib.signer import CryptoSigner
from tuf.api.metadata import (
    DelegatedRole, Delegations, Metadata, MetaFile, Root, Snapshot, TargetFile, Targets, Timestamp,
)
from tuf.api.serialization.json import JSONSerializer

NOW = datetime(2026, 11, 20, 10, 0, 0, tzinfo=timezone.utc)
PACKAGE = b"the package of an update"
MANIFEST = hashlib.sha256(b"a list of files").hexdigest()


def days(count):
    return timedelta(days=count)


def key():
    return CryptoSigner.generate_ecdsa()


def milliseconds(time):
    return int(time.timestamp() * 1000)


class Repository:
    """`files` is what a server serves; each step of a scenario takes a copy of it."""

    def __init__(self):
        self.identity = {"repository": "07" * 16, "bundleId": "com.example.app"}
        self.now = NOW
        self.root_key, self.ci_key, self.online_key = key(), key(), key()
        self.files, self.snapshot_meta, self.online_version = {}, {}, 0
        self.begun = []
        self.root = Root(version=1, expires=NOW + days(365))
        for name in ["root", "targets"]:
            self.root.add_key(self.root_key.public_key, name)
        for name in ["snapshot", "timestamp"]:
            self.root.add_key(self.online_key.public_key, name)
        self.targets = Targets(version=1, expires=NOW + days(365))
        self.targets.delegations = Delegations({}, {})
        self.roles = {}
        self.sign_root()
        self.delegate("c-production", [self.ci_key])
        self.sign_targets()
        self.publish_update("c-production", "android", "1.1.0", 2)
        self.publish()

    def text(self, signed, signers, compact=False):
        signed.unrecognized_fields["x-launchway"] = dict(self.identity)
        metadata = Metadata(copy.deepcopy(signed))
        for signer in signers:
            metadata.sign(signer, append=True)
        return metadata.to_bytes(JSONSerializer(compact=compact)).decode()

    def count_up(self, signed):
        """The first version is 1: python-tuf knows no 0."""
        if any(signed is begun for begun in self.begun):
            signed.version += 1
        self.begun.append(signed)

    def sign_root(self, signers=None):
        self.count_up(self.root)
        self.files[f"{self.root.version}.root.json"] = self.text(self.root, signers or [self.root_key])

    def sign_targets(self, signers=None):
        self.count_up(self.targets)
        self.files[f"{self.targets.version}.targets.json"] = self.text(self.targets, signers or [self.root_key])
        self.snapshot_meta["targets.json"] = MetaFile(self.targets.version)

    def delegate(self, name, signers, threshold=1, paths=None):
        self.targets.delegations.roles[name] = DelegatedRole(name, [], threshold, True, paths or [f"{name}/*/*"])
        for signer in signers:
            self.targets.add_key(signer.public_key, name)

    def role(self, name):
        return self.roles.setdefault(name, Targets(version=1, expires=self.now + days(180)))

    def sign_role(self, name, signers=None, version=None):
        role = self.role(name)
        self.count_up(role)
        role.version = version or role.version
        self.files[f"{role.version}.{name}.json"] = self.text(role, signers or [self.ci_key])
        self.snapshot_meta[f"{name}.json"] = MetaFile(role.version)

    def publish_update(self, role, platform, version, build, package=PACKAGE, fingerprint="native-1"):
        path = f"{role}/{platform}/{version}_{build}.zip"
        target = TargetFile.from_data(path, package, ["sha256"])
        custom = {"version": version, "buildNumber": str(build), "manifest": MANIFEST}
        target.unrecognized_fields["custom"] = custom | ({"fingerprint": fingerprint} if fingerprint else {})
        self.role(role).targets[path] = target
        self.sign_role(role)

    def publish(self, expires=None, snapshot=None, timestamp=None, signers=None):
        self.online_version = max(self.online_version + 1, int(self.now.timestamp()))
        self.sign_snapshot(self.online_version, expires, snapshot, signers)
        self.sign_timestamp(timestamp or self.online_version, self.online_version, expires, signers)

    def sign_snapshot(self, version, expires=None, meta=None, signers=None):
        meta = meta or self.snapshot_meta
        snapshot = Snapshot(version=version, expires=expires or self.now + days(7), meta=meta)
        self.files[f"{version}.snapshot.json"] = self.text(snapshot, signers or [self.online_key])

    def sign_timestamp(self, version, snapshot, expires=None, signers=None):
        timestamp = Timestamp(version=version, expires=expires or self.now + days(7), snapshot_meta=MetaFile(snapshot))
        self.files["timestamp.json"] = self.text(timestamp, signers or [self.online_key])

    def replace_online_key(self):
        self.online_key, self.online_version = key(), 0
        for name in ["snapshot", "timestamp"]:
            self.root.roles[name].keyids.clear()
            self.root.add_key(self.online_key.public_key, name)
        self.sign_root()

    def replace_ci_key(self, version):
        self.ci_key = key()
        self.delegate("c-production", [self.ci_key])
        self.sign_targets()
        self.sign_role("c-production", version=version)

    def name(self, role):
        if role in ("timestamp", "root"):
            return "timestamp.json" if role == "timestamp" else f"{self.root.version}.root.json"
        if role == "snapshot":
            return f"{self.online_version}.snapshot.json"
        return f"{self.snapshot_meta[f'{role}.json'].version}.{role}.json"

    def change(self, role, change):
        """Changes the file that is served for a role, without signing it anew."""
        file = json.loads(self.files[self.name(role)])
        change(file)
        self.files[self.name(role)] = json.dumps(file)
