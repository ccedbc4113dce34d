"""The statement of provenance: which commit, compiler and settings made which files. It is not signed: hosted CI signs it, and
whoever builds the same commit again can compare the bytes."""

import hashlib
import json
from datetime import datetime, timezone

from .release import ROOT

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://slsa.dev/provenance/v1"
BUILD_TYPE = "urn:launchway:scripts/release:1"


def sha256(data):
    """In lower-case hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def statement(release, files, builder):
    """The statement about `files`, which are names and bytes. `builder` identifies whoever ran the build."""
    time = datetime.fromtimestamp(release.epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    document = {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": sha256(data)}} for name, data in sorted(files.items())],
        "predicateType": PREDICATE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {
                    "commit": release.commit,
                    "profile": release.profile,
                    "target": release.target,
                    "glibc": release.glibc,
                },
                "internalParameters": {"sourceDateEpoch": time},
                "resolvedDependencies": [
                    {"uri": "git:launchway", "digest": {"gitCommit": release.commit}},
                    {"uri": "file:Cargo.lock", "digest": {"sha256": sha256((ROOT / "Cargo.lock").read_bytes())}},
                    {"uri": f"pkg:generic/rustc@{release.rustc}"},
                ],
            },
            "runDetails": {"builder": {"id": builder}},
        },
    }
    return (json.dumps(document, indent=1) + "\n").encode()


def checksums(files):
    """What `sha256sum --check` reads."""
    return "".join(f"{sha256(data)}  {name}\n" for name, data in sorted(files.items())).encode()
