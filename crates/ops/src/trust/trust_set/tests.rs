//! Whatever the server accepts, phones take: developers change keys, roles and content at random, rightly and wrongly, and
//! after each change a phone that knows nothing and one that was off for a while refresh.

use std::collections::BTreeMap;

use launchway_domain::configuration::Configuration;
use launchway_domain::platform::Platform;
use launchway_domain::time::{DAY, EpochMs};
use launchway_trust::client::Client;
use launchway_trust::draft::Draft;
use launchway_trust::metadata::{Delegation, Delegations, Header, Key, Keys, RoleKeys, Snapshot};
use launchway_trust::online::{OnlineRequest, sign_online};
use launchway_trust::{RepositoryId, Sha256, SigningKey, TrustFile, Update};
use ring::rand::SystemRandom;

use super::*;
use crate::trust::online::continued_list;

const NOW: EpochMs = 1_795_168_800_000;
const PRODUCTION: &str = "c-production";

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % limit
    }
}

/// What the developers want to be signed. Keys are places in the pool.
#[derive(Clone)]
struct Plan {
    online: usize,
    /// The keys of root and targets.
    developers: Vec<usize>,
    threshold: u64,
    root_version: u64,
    targets_version: u64,
    roles: BTreeMap<String, PlannedRole>,
}

#[derive(Clone)]
struct PlannedRole {
    keys: Vec<usize>,
    threshold: u64,
    version: u64,
    content: Targets,
}

/// How a request is spoiled.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// A file that has to come along is left out.
    Missing,
    /// One signature less than the threshold.
    Signatures,
    /// Metadata of another repository.
    Repository,
    /// It expired.
    Expired,
}

/// The server, and everything it signed.
struct Server {
    pool: Vec<SigningKey>,
    identity: Identity,
    plan: Plan,
    set: Option<TrustSet>,
    files: BTreeMap<String, String>,
    snapshot: Option<Metadata<Snapshot>>,
    timestamp: u64,
}

impl Server {
    fn new() -> Self {
        let plan = Plan {
            online: 0,
            developers: vec![1],
            threshold: 1,
            root_version: 1,
            targets_version: 1,
            roles: BTreeMap::from([(PRODUCTION.to_owned(), PlannedRole::of(2))]),
        };
        let mut server = Self {
            pool: (0..3).map(|_| new_key()).collect(),
            identity: Identity {
                repository: RepositoryId::from_bytes([7; 16]),
                bundle_id: "com.example.app".parse().expect("a bundle id"),
            },
            plan: plan.clone(),
            set: None,
            files: BTreeMap::new(),
            snapshot: None,
            timestamp: 0,
        };
        assert!(server.send(plan, Fault::None), "the first root is accepted");
        server
    }

    fn new_key(&mut self) -> usize {
        self.pool.push(new_key());
        self.pool.len() - 1
    }

    fn keys(&self, places: &[usize], threshold: u64) -> RoleKeys {
        RoleKeys {
            key_ids: places.iter().map(|place| self.pool[*place].public().id()).collect(),
            threshold,
        }
    }

    fn listed<'k>(&self, places: impl IntoIterator<Item = &'k usize>) -> Keys {
        let public = places.into_iter().map(|place| *self.pool[*place].public());
        public.map(|key| (key.id(), Key::from(key))).collect()
    }

    fn root(&self, plan: &Plan) -> Root {
        let online = self.keys(&[plan.online], 1);
        let developers = self.keys(&plan.developers, plan.threshold);
        Root {
            keys: self.listed(plan.developers.iter().chain([&plan.online])),
            root: developers.clone(),
            timestamp: online.clone(),
            snapshot: online,
            targets: developers,
            consistent_snapshot: true,
        }
    }

    fn targets(&self, plan: &Plan) -> Targets {
        let delegation = |(name, role): (&String, &PlannedRole)| Delegation {
            name: name.clone(),
            role: self.keys(&role.keys, role.threshold),
            terminating: true,
            paths: vec![format!("{name}/*/*")],
        };
        Targets {
            delegations: Some(Delegations {
                keys: self.listed(plan.roles.values().flat_map(|role| &role.keys)),
                roles: plan.roles.iter().map(delegation).collect(),
            }),
            ..Targets::default()
        }
    }

    /// A file with the signatures of these keys under these authorities.
    fn sign<T: Body>(
        &self,
        version: u64,
        body: &T,
        authorities: &[Authority<'_>],
        keys: &[usize],
        fault: Fault,
    ) -> String {
        let repository = match fault {
            Fault::Repository => RepositoryId::from_bytes([8; 16]),
            _ => self.identity.repository,
        };
        let header = Header {
            version,
            expires: if fault == Fault::Expired { NOW } else { NOW + 100 * DAY },
            identity: Some(Identity {
                repository,
                ..self.identity.clone()
            }),
        };
        let mut draft = Draft::new(&header, body);
        for key in keys {
            for authority in authorities {
                // A key of one authority need not be one of the other.
                let _ = draft.sign(*authority, &self.pool[*key], &SystemRandom::new());
            }
        }
        draft.to_text().expect("a file")
    }

    /// The files in which a plan differs from the present one.
    fn request(&self, next: &Plan, fault: Fault) -> (Vec<String>, BTreeMap<String, String>) {
        let first = self.set.is_none();
        let enough = |keys: &[usize], threshold: u64| {
            let less = u64::from(fault == Fault::Signatures);
            let count = usize::try_from(threshold - less).expect("a small number");
            keys[..count].to_vec()
        };
        let (mut roots, mut roles) = (Vec::new(), BTreeMap::new());
        let (root, targets) = (self.root(next), self.targets(next));
        if first || next.root_version != self.plan.root_version {
            let before = self.root(&self.plan);
            let authorities = [before.authority(TopLevel::Root), root.authority(TopLevel::Root)];
            let mut keys = enough(&self.plan.developers, self.plan.threshold);
            keys.extend(enough(&next.developers, next.threshold));
            roots.push(self.sign(next.root_version, &root, &authorities, &keys, fault));
        }
        if first || next.targets_version != self.plan.targets_version {
            let keys = enough(&next.developers, next.threshold);
            let text = self.sign(
                next.targets_version,
                &targets,
                &[root.authority(TopLevel::Targets)],
                &keys,
                fault,
            );
            roles.insert("targets".to_owned(), text);
        }
        let delegations = targets.delegations.as_ref().expect("delegations");
        for (name, role) in &next.roles {
            let present = self.plan.roles.get(name).filter(|_| !first);
            if present.is_some_and(|present| present.version == role.version) {
                continue;
            }
            let delegation = delegations.get(name).expect("a delegation");
            let keys = enough(&role.keys, role.threshold);
            let authority = delegations.authority(delegation);
            roles.insert(
                name.clone(),
                self.sign(role.version, &role.content, &[authority], &keys, fault),
            );
        }
        (roots, roles)
    }

    /// Sends a plan; returns whether it is accepted. A spoiled one changes nothing.
    fn send(&mut self, next: Plan, fault: Fault) -> bool {
        let (mut roots, mut roles) = self.request(&next, fault);
        if fault == Fault::Missing && roots.pop().is_none() {
            roles.pop_first();
        }
        let proposal = Proposal::read(&roots, &roles).expect("files that can be read");
        let (current, named) = (*self.pool[self.plan.online].public(), *self.pool[next.online].public());
        let keys = OnlineKeys {
            current: Some(current),
            pending: (current != named).then_some(named),
        };
        match judge(self.set.as_ref(), &self.identity, &proposal, &keys, NOW) {
            Ok(judgment) if judgment.lacking.is_empty() => {
                if fault == Fault::None {
                    self.publish(judgment, &roots, &roles, &next);
                    self.plan = next;
                }
                true
            }
            _ => false,
        }
    }

    fn publish(&mut self, judgment: Judgment, roots: &[String], roles: &BTreeMap<String, String>, next: &Plan) {
        for text in roots {
            self.files
                .insert(format!("{}.root.json", next.root_version), text.clone());
        }
        for (name, text) in roles {
            let version = match name.as_str() {
                "targets" => next.targets_version,
                name => next.roles[name].version,
            };
            self.files.insert(format!("{version}.{name}.json"), text.clone());
        }
        let listed = self
            .snapshot
            .as_ref()
            .map(|snapshot| continued_list(snapshot, &judgment.fallen));
        let listed = listed.unwrap_or_default();
        let used = self.snapshot.as_ref().map(Metadata::version);
        let request = OnlineRequest {
            root: judgment.set.root.body(),
            identity: &self.identity,
            previous_snapshot: used.map(|version| (version, &listed)),
            previous_timestamp: used.map(|_| self.timestamp),
            roles: &judgment.set.listed_versions(),
            now: NOW,
            expires: NOW + 7 * DAY,
        };
        let signed = sign_online(&request, &self.pool[next.online], &SystemRandom::new()).expect("online roles");
        self.snapshot = Metadata::parse(signed.snapshot.as_bytes()).ok();
        self.timestamp = signed.timestamp_version;
        self.files
            .insert(format!("{}.snapshot.json", signed.snapshot_version), signed.snapshot);
        self.files.insert("timestamp.json".to_owned(), signed.timestamp);
        self.set = Some(judgment.set);
    }

    /// A phone that was just set up.
    fn phone(&self) -> Client {
        let embedded = TrustFile {
            root: self.files["1.root.json"].clone(),
            repository: self.identity.repository,
            floors: BTreeMap::new(),
            revoked: std::collections::BTreeSet::new(),
        };
        let configuration = Configuration::parse("production").expect("a configuration");
        Client::open(&embedded, &self.identity.bundle_id, Some(&configuration), None).expect("a phone")
    }

    fn refresh(&self, phone: &mut Client) {
        let mut refresh = phone.refresh(NOW);
        while let Some(request) = refresh.next_request().expect("the set fits together") {
            match self.files.get(&request.to_string()) {
                Some(text) => drop(refresh.take(text.as_bytes()).expect("a file that phones take")),
                None => refresh.report_missing().expect("the next root alone may be missing"),
            }
        }
    }
}

impl PlannedRole {
    fn of(key: usize) -> Self {
        Self {
            keys: vec![key],
            threshold: 1,
            version: 1,
            content: Targets::default(),
        }
    }
}

fn new_key() -> SigningKey {
    SigningKey::generate(&SystemRandom::new()).expect("a key")
}

/// A change that is right.
fn change(server: &mut Server, numbers: &mut Numbers) -> Plan {
    let mut next = server.plan.clone();
    let (key, other) = (server.new_key(), server.new_key());
    let fresh = numbers.below(2) == 0;
    match numbers.below(8) {
        0 => {
            next.developers = if fresh {
                vec![key]
            } else {
                vec![next.developers[0], key]
            };
            next.threshold = numbers.below(next.developers.len() as u64) + 1;
            (next.root_version, next.targets_version) = (next.root_version + 1, next.targets_version + 1);
        }
        1 => {
            (next.online, next.root_version) = (key, next.root_version + 1);
        }
        2 => {
            next.targets_version += 1 + numbers.below(3);
            let any = PlannedRole {
                version: 1000 * next.targets_version,
                ..PlannedRole::of(key)
            };
            if next.roles.remove("any").is_none() {
                next.roles.insert("any".to_owned(), any);
            }
        }
        3 => {
            // Everything is replaced, and the versions of the role count from below.
            (next.online, next.root_version) = (key, next.root_version + 1);
            next.targets_version += 1;
            let role = next.roles.get_mut(PRODUCTION).expect("the role");
            (role.keys, role.threshold) = (vec![other], 1);
            role.version = if role.version > 1 { role.version / 2 } else { 2 };
        }
        4 => {
            next.targets_version += 1;
            let role = next.roles.get_mut(PRODUCTION).expect("the role");
            role.keys = if fresh {
                vec![key, other]
            } else {
                vec![role.keys[0], other]
            };
            role.threshold = numbers.below(2) + 1;
            role.version += 1;
        }
        _ => {
            let role = next.roles.get_mut(PRODUCTION).expect("the role");
            role.version += 1 + numbers.below(2);
            let build = role.version.to_string().parse().expect("a build number");
            let update = Update::new(
                "1.0.0".parse().expect("a version"),
                build,
                None,
                Sha256::of(b"manifest"),
            );
            let role_name = PRODUCTION.parse().expect("a role");
            role.content.publish(
                &role_name,
                Platform::Android,
                &update,
                Sha256::of(&role.version.to_be_bytes()),
                5,
            );
            if role.content.targets.len() > 8 {
                role.content.targets.pop_first();
            }
        }
    }
    next
}

#[test]
fn phones_take_whatever_the_server_accepts() {
    let mut refused = 0;
    for seed in 0..12 {
        let (mut server, mut numbers) = (Server::new(), Numbers(seed));
        let mut seldom = server.phone();
        for step in 0..24 {
            let next = change(&mut server, &mut numbers);
            for fault in [Fault::Signatures, Fault::Repository, Fault::Expired] {
                assert!(!server.send(next.clone(), fault), "{fault:?} in step {step} of {seed}");
            }
            // What is left out is not always needed by the rest.
            refused += u64::from(!server.send(next.clone(), Fault::Missing));
            assert!(server.send(next, Fault::None), "step {step} of {seed}");
            server.refresh(&mut server.phone());
            if numbers.below(3) == 0 {
                server.refresh(&mut seldom);
            }
        }
        server.refresh(&mut seldom);
    }
    assert!(refused > 40, "{refused}");
}
