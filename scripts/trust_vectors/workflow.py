"""Scenarios of a client: what a server serves at a time, what the client makes of it, and which offers it takes."""

import copy
import hashlib

from tuf.api.metadata import MetaFile

from .repository import NOW, PACKAGE, Repository, days, key, milliseconds

SCENARIOS = []
HIGHEST = 2**53 - 1


def scenario(function):
    SCENARIOS.append(function)
    return function


class Scenario:
    def __init__(self, name):
        self.name, self.steps, self.served = name, [], {}
        self.repository = Repository()
        self.floors, self.revoked = {}, []
        self.root = self.repository.files["1.root.json"]

    def step(self, expect="accepted", revoked=None, offers=None):
        """One run of the workflow. `files` holds what changed since the step before; `null` is no more served."""
        files = self.repository.files
        changed = {name: text for name, text in files.items() if self.served.get(name) != text}
        changed |= {name: None for name in self.served if name not in files}
        self.served = dict(files)
        step = {"now": milliseconds(self.repository.now), "files": changed, "expect": expect}
        if revoked is not None:
            step["revoked"] = sorted(revoked)
        if offers:
            step["offers"] = offers
        self.steps.append(step)

    def value(self):
        embedded = {
            "root": self.root,
            "repository": "07" * 16,
            "floors": self.floors,
            "revoked": self.revoked,
        }
        return {
            "name": self.name,
            "embedded": embedded,
            "bundleId": "com.example.app",
            "configuration": "production",
            "steps": self.steps,
        }


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def offer(expect="accepted", package=PACKAGE, **changes):
    return {
        "platform": "android",
        "version": "1.1.0",
        "buildNumber": "2",
        "sha256": sha256(package),
        "size": len(package),
        "app": {"platform": "android", "fingerprint": "native-1", "version": "1.0.0", "build": "1"},
        "expect": expect,
    } | changes


def app(**changes):
    return {"platform": "android", "fingerprint": "native-1", "version": "1.0.0", "build": "1"} | changes


@scenario
def a_signed_update_is_taken(s):
    s.step(offers=[
        offer(),
        offer(version="1.1"),
        offer(version="1.1.0+metadata"),
        offer(buildNumber="002"),
        offer("other-package", package=b"evil"),
        offer("other-package", size=len(PACKAGE) + 1),
        offer("not-signed", version="1.1.1"),
        offer("not-signed", buildNumber="3"),
        offer("malformed-answer", version="one"),
        offer("malformed-answer", buildNumber="two"),
        offer("other-platform", platform="ios"),
        offer("other-fingerprint", app=app(fingerprint="native-2")),
        offer("other-fingerprint", app=app(fingerprint=None)),
        offer(app=app(version="1.1.0-rc.1")),
        offer(app=app(version="1.1.0", build="1.9")),
        offer("not-newer", app=app(version="1.1.0", build="2")),
        offer("not-newer", app=app(version="1.1.0", build=None)),
        offer("not-newer", app=app(version="1.2.0")),
    ])
    s.repository.publish_update("c-production", "android", "1.2.0", 3, fingerprint=None)
    s.repository.publish()
    s.step(offers=[offer(version="1.2.0", buildNumber="3", app=app(fingerprint=None))])


@scenario
def fields_of_later_versions_are_part_of_what_is_signed(s):
    s.repository.root.unrecognized_fields["x-later"] = {"b": [1, None, "\u00e9\U0001f600\n\"\\\x00"], "a": True}
    s.repository.sign_root()
    s.step()
    s.repository.sign_root()
    s.repository.change("root", lambda file: file["signed"]["x-later"].pop("a"))
    s.step("root too-few-signatures")


@scenario
def the_wrong_keys_sign_nothing(s):
    for role in ["timestamp", "snapshot", "targets", "c-production"]:
        repository = s.repository
        if role == "timestamp":
            repository.publish(signers=[repository.root_key])
        elif role == "snapshot":
            repository.publish()
            repository.sign_snapshot(repository.online_version, signers=[repository.ci_key])
        elif role == "targets":
            repository.sign_targets([repository.ci_key, repository.online_key])
            repository.publish()
        else:
            repository.sign_role(role, [repository.root_key, repository.online_key])
            repository.publish()
        s.step(f"{role} too-few-signatures")
        repository.sign_targets()
        repository.sign_role("c-production")
        repository.publish()


@scenario
def thresholds_count_keys_and_not_ids(s):
    repository, second = s.repository, key()
    alias = copy.deepcopy(repository.ci_key)
    alias.public_key.keyid = "an-alias"
    alias.public_key.unrecognized_fields["x-note"] = "the same key"
    repository.delegate("c-production", [repository.ci_key, alias, second], threshold=2)
    repository.sign_targets()
    repository.sign_role("c-production", [repository.ci_key, alias])
    repository.publish()
    s.step("c-production too-few-signatures")
    repository.sign_role("c-production", [alias, second])
    repository.publish()
    s.step(offers=[offer()])


@scenario
def an_id_is_listed_once(s):
    repository = s.repository
    repository.publish()
    repository.change("timestamp", lambda file: file["signatures"].append(file["signatures"][0]))
    s.step("timestamp malformed")
    repository.publish()
    keyids = repository.root.roles["targets"].keyids
    keyids.append(keyids[0])
    repository.sign_root()
    s.step("root malformed")


@scenario
def signatures_that_cannot_be_read_do_not_matter(s):
    repository, other = s.repository, key()
    repository.delegate("c-production", [repository.ci_key, other])
    repository.sign_targets()
    for bad in ["", "zz", "0", "ABCDEF"]:
        repository.sign_role("c-production", [other, repository.ci_key])
        repository.publish()
        repository.change("c-production", lambda file: file["signatures"][0].update(sig=bad))
        s.step()


@scenario
def keys_of_other_types_count_for_nothing(s):
    repository = s.repository
    for change in [{"keytype": "rsa"}, {"scheme": "ed25519"}, {"keyval": {"public": "abcd"}}]:
        other = copy.deepcopy(repository.ci_key)
        for name, value in change.items():
            setattr(other.public_key, name, value)
        repository.delegate("c-production", [])
        repository.targets.delegations.keys.clear()
        repository.targets.add_key(other.public_key, "c-production")
        repository.sign_targets()
        repository.publish()
        s.step("c-production too-few-signatures")


@scenario
def whatever_expired_is_refused(s):
    repository = s.repository
    s.step(offers=[offer()])
    repository.now = NOW + days(7)
    s.step("timestamp expired", offers=[offer("expired")])
    repository.publish()
    s.step(offers=[offer()])
    repository.now = NOW + days(180)
    repository.publish()
    s.step("c-production expired", offers=[offer("expired")])
    repository.role("c-production").expires = repository.now + days(180)
    repository.sign_role("c-production")
    repository.publish(expires=repository.now)
    s.step("timestamp expired")
    repository.publish()
    s.step(offers=[offer()])
    repository.now = NOW + days(365)
    repository.publish()
    s.step("root expired")
    repository.root.expires = repository.now + days(365)
    repository.sign_root()
    s.step("targets expired")


@scenario
def older_metadata_is_refused(s):
    repository = s.repository
    first = dict(repository.files)
    repository.sign_role("c-production")
    repository.publish()
    s.step()
    newest = dict(repository.files)
    repository.files = newest | {"timestamp.json": first["timestamp.json"]}
    s.step("timestamp rollback")
    repository.files = newest
    repository.sign_timestamp(repository.online_version + 1, 1)
    s.step("timestamp names-rollback")
    meta = dict(repository.snapshot_meta)
    repository.publish(snapshot=meta | {"c-production.json": MetaFile(1)})
    s.step("snapshot names-rollback")
    repository.publish(snapshot={"targets.json": meta["targets.json"]})
    s.step("snapshot no-longer-lists")
    repository.publish()
    s.step(offers=[offer()])


@scenario
def files_that_do_not_fit_are_refused(s):
    repository = s.repository
    first, repository.online_version = repository.files[repository.name("snapshot")], repository.online_version + 1
    repository.sign_timestamp(repository.online_version, repository.online_version)
    repository.files[repository.name("snapshot")] = first
    s.step("snapshot other-version")
    text = repository.files["1.c-production.json"].encode()
    listed = dict(repository.snapshot_meta)
    for length, hashes, expect in [
        (len(text), {"sha256": sha256(text)}, "accepted"),
        (len(text) + 1, None, "c-production other-file"),
        (None, {"sha256": "0" * 64}, "c-production other-file"),
        (None, {"sha512": hashlib.sha512(text).hexdigest()}, "c-production other-file"),
    ]:
        repository.publish(snapshot=listed | {"c-production.json": MetaFile(1, length, hashes)})
        s.step(expect)
    repository.publish()
    s.step()
    repository.publish(snapshot=listed | {"c-production.json": MetaFile(2)})
    s.step("c-production missing")


@scenario
def metadata_of_others_is_refused(s):
    repository, own = s.repository, s.repository.identity
    s.step()
    for other in [own | {"repository": "08" * 16}, own | {"bundleId": "com.example.other"}]:
        repository.identity = other
        repository.publish()
        s.step("timestamp other-repository-or-app")
        repository.sign_role("c-production")
        repository.identity = own
        repository.publish()
        s.step("c-production other-repository-or-app")
        repository.sign_role("c-production")
        repository.publish()
        s.step()
    repository.identity = own | {"bundleId": "COM.Example.App"}
    repository.publish()
    s.step()
    repository.identity = {}
    repository.publish()
    s.step("timestamp malformed")


@scenario
def roots_are_gone_through_one_by_one(s):
    repository = s.repository
    old = repository.root_key
    for year in [1, 2, 3]:
        repository.now = NOW + days(year * 365)
        repository.root.expires = repository.now + days(365)
        new = key()
        for name in ["root", "targets"]:
            repository.root.roles[name].keyids.clear()
            repository.root.add_key(new.public_key, name)
        repository.sign_root([repository.root_key, new])
        repository.root_key = new
    repository.targets.expires = repository.now + days(365)
    repository.role("c-production").expires = repository.now + days(180)
    repository.sign_targets()
    repository.sign_role("c-production")
    repository.publish()
    s.step(offers=[offer()])
    repository.sign_root([old])
    s.step("root too-few-signatures")
    repository.sign_root()
    skipped = repository.files.pop(repository.name("root"))
    repository.files[f"{repository.root.version - 1}.root.json"] = skipped
    s.step("root other-version")


@scenario
def a_root_needs_the_old_keys_and_the_new_ones(s):
    repository, new = s.repository, key()
    repository.root.roles["root"].keyids.clear()
    repository.root.add_key(new.public_key, "root")
    for signers, expect in [
        ([repository.root_key], "root too-few-signatures"),
        ([new], "root too-few-signatures"),
        ([repository.root_key, new], "accepted"),
    ]:
        repository.root.version = 1
        repository.sign_root(signers)
        s.step(expect)


@scenario
def new_online_keys_reset_snapshot_and_timestamp_alone(s):
    repository = s.repository
    repository.sign_role("c-production")
    repository.publish()
    s.step()
    repository.now -= days(1)
    repository.replace_online_key()
    repository.publish()
    s.step(offers=[offer()])
    newest = repository.snapshot_meta["c-production.json"]
    repository.snapshot_meta["c-production.json"] = MetaFile(1)
    repository.replace_online_key()
    repository.publish()
    s.step("c-production below-floor", offers=[offer("below-floor")])
    repository.snapshot_meta["c-production.json"] = newest
    repository.publish()
    s.step(offers=[offer()])


@scenario
def a_stolen_key_that_used_up_its_versions_is_replaced(s):
    repository = s.repository
    repository.sign_role("c-production", version=HIGHEST)
    repository.publish()
    s.step()
    repository.replace_ci_key(version=3)
    repository.publish()
    s.step("snapshot names-rollback")
    repository.replace_online_key()
    repository.publish()
    s.step(offers=[offer()])


@scenario
def floors_of_the_app_hold_and_stay(s):
    s.floors = {"c-production": 3, "c-unknown": 99}
    repository = s.repository
    s.step("c-production below-floor", offers=[offer("below-floor")])
    repository.replace_ci_key(version=2)
    repository.replace_online_key()
    repository.publish()
    s.step("c-production below-floor")
    repository.sign_role("c-production")
    repository.publish()
    s.step(offers=[offer()])


@scenario
def revoked_packages_stay_revoked(s):
    repository, embedded = s.repository, sha256(b"an older one")
    s.revoked = [embedded]
    s.step(revoked=[embedded], offers=[offer()])
    repository.role("c-production").unrecognized_fields["x-revoked"] = [sha256(PACKAGE)]
    repository.sign_role("c-production")
    repository.publish()
    s.step(revoked=[embedded, sha256(PACKAGE)], offers=[offer("revoked")])
    repository.now = NOW + days(3000)
    s.step("root expired", revoked=[embedded, sha256(PACKAGE)])


@scenario
def a_list_of_revoked_packages_that_cannot_be_read_is_refused(s):
    repository = s.repository
    for bad in [["0" * 63], [sha256(b"").upper()], [1], {}, None, [sha256(bytes([n])) for n in range(33)]]:
        repository.role("c-production").unrecognized_fields["x-revoked"] = bad
        repository.sign_role("c-production")
        repository.publish()
        s.step("c-production malformed", revoked=[])


@scenario
def the_own_configuration_is_asked_before_all(s):
    repository, other = s.repository, b"for all"
    repository.delegate("any", [repository.ci_key])
    repository.sign_targets()
    repository.publish_update("any", "android", "1.1.0", 2, other)
    repository.publish_update("any", "android", "1.3.0", 4, other)
    repository.role("any").unrecognized_fields["x-revoked"] = [sha256(b"bad")]
    repository.sign_role("any")
    repository.publish()
    s.step(revoked=[sha256(b"bad")], offers=[
        offer(),
        offer("other-package", package=other),
        offer(package=other, version="1.3.0", buildNumber="4"),
    ])
    del repository.targets.delegations.roles["any"]
    repository.sign_targets()
    repository.publish()
    s.step(revoked=[], offers=[offer(), offer("not-signed", package=other, version="1.3.0", buildNumber="4")])


@scenario
def roles_keep_to_their_own(s):
    repository = s.repository
    repository.delegate("c-staging", [repository.ci_key])
    repository.sign_targets()
    repository.publish_update("c-staging", "android", "9.0.0", 9)
    repository.sign_role("c-staging", version=900)
    repository.publish()
    s.step(offers=[offer("not-signed", version="9.0.0", buildNumber="9")])
    repository.files["900.c-production.json"] = repository.files["900.c-staging.json"]
    repository.publish(snapshot=repository.snapshot_meta | {"c-production.json": MetaFile(900)})
    s.step("c-production other-content")


@scenario
def delegations_are_for_the_own_paths(s):
    repository = s.repository
    for paths in [["*/*/*"], ["c-production/*/*", "c-staging/*/*"], ["c-production/*"]]:
        repository.delegate("c-production", [repository.ci_key], paths=paths)
        repository.sign_targets()
        repository.publish()
        s.step("c-production other-paths")
    del repository.targets.delegations.roles["c-production"]
    repository.sign_targets()
    repository.publish()
    s.step(offers=[offer("not-signed")])


@scenario
def files_of_another_form_are_refused(s):
    repository = s.repository
    for name, value in [
        ("_type", "snapshot"),
        ("spec_version", "2.0.0"),
        ("version", 0),
        ("version", "1"),
        ("expires", "2030-01-01T00:00:00.000Z"),
        ("expires", "2030-02-30T00:00:00Z"),
        ("meta", {}),
    ]:
        repository.publish()
        repository.change("timestamp", lambda file: file["signed"].update({name: value}))
        s.step("timestamp malformed")
    repository.publish()
    text = repository.files["timestamp.json"]
    repository.files["timestamp.json"] = text + " " * (4097 - len(text))
    s.step("timestamp malformed")
    repository.files["timestamp.json"] = text + " " * (4096 - len(text))
    s.step()


@scenario
def files_that_must_exist_are_missed(s):
    repository = s.repository
    for role in ["timestamp", "snapshot", "targets", "c-production"]:
        kept = repository.files.pop(repository.name(role))
        s.step(f"{role} missing")
        repository.files[repository.name(role)] = kept
    s.step()
    listed = dict(repository.snapshot_meta)
    repository.delegate("any", [repository.ci_key])
    repository.sign_targets()
    repository.publish(snapshot=listed | {"targets.json": MetaFile(2)})
    s.step("any not-listed")


def vectors():
    values = []
    for function in SCENARIOS:
        scenario = Scenario(function.__name__.replace("_", " "))
        function(scenario)
        values.append(scenario.value())
    return {"scenarios": values}
