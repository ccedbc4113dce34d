"""The bill of materials: for each program the crates that are compiled into it, as CycloneDX 1.5."""

import json
import tomllib
import uuid
from datetime import datetime, timezone

from .release import PROGRAMS, ROOT

# Of serial numbers: the same release has the same one.
NAMESPACE = uuid.UUID("6f6e2e6c-61a5-5f3e-8c9e-0d3f6a1f7a11")


def boms(release):
    """The documents as names and bytes."""
    metadata = json.loads((release.programs / "metadata.json").read_text())
    checksums = _checksums()
    for program in PROGRAMS:
        document = _bom(release, metadata, checksums, program)
        name = f"{program}-{release.version}-{release.system}-{release.architecture}.cdx.json"
        yield name, (json.dumps(document, indent=1) + "\n").encode()


def _checksums():
    """The SHA-256 of each crate's source, by name and version."""
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())
    return {(package["name"], package["version"]): package.get("checksum") for package in lock["package"]}


def linked(metadata, program):
    """The packages of a program with what each depends on, by id: what is compiled into it, or run to compile it, but not what
    only tests need."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    root = next(package["id"] for package in metadata["packages"] if package["name"] == program)
    graph, waiting = {}, [root]
    while waiting:
        package = waiting.pop()
        if package in graph:
            continue
        needs = [
            dependency["pkg"]
            for dependency in nodes[package]["deps"]
            if any(kind["kind"] in (None, "build") for kind in dependency["dep_kinds"])
        ]
        graph[package] = sorted(set(needs))
        waiting += graph[package]
    return root, graph


def _bom(release, metadata, checksums, program):
    packages = {package["id"]: package for package in metadata["packages"]}
    root, graph = linked(metadata, program)
    refs = {package: _purl(packages[package]) for package in graph}
    time = datetime.fromtimestamp(release.epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    serial = uuid.uuid5(NAMESPACE, f"{program} {release.version} {release.commit} {release.target}")
    components = [_component(packages[package], checksums) for package in graph if package != root]
    components.append(_standard_library(release.rustc))
    main = {**_component(packages[root], checksums), "type": "application", "version": release.version}
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {
            "timestamp": time,
            "component": main,
            "properties": [
                {"name": "launchway:commit", "value": release.commit},
                {"name": "launchway:target", "value": release.target},
            ],
        },
        "components": sorted(components, key=lambda component: component["bom-ref"]),
        "dependencies": sorted(
            ({"ref": refs[package], "dependsOn": sorted(refs[need] for need in needs)} for package, needs in graph.items()),
            key=lambda entry: entry["ref"],
        ),
    }


def _standard_library(version):
    """Rust's own library, which is in every program and in no list of cargo."""
    purl = f"pkg:generic/rust-std@{version}"
    component = {"type": "library", "bom-ref": purl, "name": "rust-std", "version": version, "purl": purl}
    return {**component, "licenses": [{"expression": "MIT OR Apache-2.0"}]}


def _purl(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def _component(package, checksums):
    component = {
        "type": "library",
        "bom-ref": _purl(package),
        "name": package["name"],
        "version": package["version"],
        "purl": _purl(package),
    }
    if package.get("license"):
        # Some crates still write a slash between alternatives.
        component["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    checksum = checksums.get((package["name"], package["version"]))
    if checksum:
        component["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if package.get("repository"):
        component["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return component
