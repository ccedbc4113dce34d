//! How strong the sandbox of a machine is. A step tries to escape before builds run (`trial`), and what it reached
//! decides. Kernel settings only show what should be possible; containers and security modules may still forbid it.

use std::collections::BTreeSet;

use super::trial::Exposure;
use super::{Available, Landlock};

/// The sandbox of a machine, as measured by the trial.
#[derive(Clone, Debug)]
pub struct SandboxReport {
    /// What isolates builds.
    pub available: Available,
    /// Whether steps have their own view of the machine.
    pub apart: bool,
    /// What a step reached despite the sandbox.
    pub reached: BTreeSet<Exposure>,
    /// Whether routing rules close the metadata services of clouds.
    pub closes_metadata: bool,
    /// The ports that the owner of the machine has opened.
    pub open_ports: Vec<u16>,
}

/// Something that is open to builds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// What is open, as a sentence without its full stop.
    pub what: String,
    /// How to close it; `None` if it is open on every machine.
    pub remedy: Option<&'static str>,
}

impl std::fmt::Display for Opening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)?;
        self.remedy.map_or(Ok(()), |remedy| write!(f, ": {remedy}"))
    }
}

impl SandboxReport {
    fn reaches(&self, reach: Exposure) -> bool {
        self.reached.contains(&reach)
    }

    /// Whether builds of organizations that do not trust each other may run here. Otherwise the server serves only the
    /// first organization.
    pub fn is_enough(&self) -> bool {
        let leads_out = [
            Exposure::Files,
            Exposure::Signals,
            Exposure::Session,
            Exposure::Containers,
        ];
        !self.available.as_root && !leads_out.into_iter().any(|reach| self.reaches(reach))
    }

    /// What isolates builds, for people.
    pub fn sentence(&self) -> &'static str {
        match (self.is_enough(), self.available.user, self.available.landlock) {
            (false, ..) => "builds are not isolated well enough from the rest of this machine",
            (true, true, Landlock::Missing) => "builds run as another user",
            (true, true, _) => "builds run as another user, behind Landlock",
            (true, false, _) => "builds run behind Landlock",
        }
    }

    /// Everything that is open to builds on this machine, the worst first.
    pub fn openings(&self) -> Vec<Opening> {
        let mut openings = self.ways_out();
        openings.extend(self.network());
        openings.extend(self.rest());
        openings
    }

    /// The openings that make the sandbox too weak for untrusted builds.
    fn ways_out(&self) -> Vec<Opening> {
        let ways = [
            (
                self.available.as_root,
                "builds run as root, which no sandbox reliably confines",
                "configure separate users for builds",
            ),
            (
                self.reaches(Exposure::Files),
                "builds can read and change everything that this service can",
                "run it as root, so that builds get separate users, or on Linux 5.13 or newer with Landlock enabled",
            ),
            (
                self.reaches(Exposure::Signals),
                "builds can send signals to this service and end it",
                "run it as root, so that builds get separate users, or on Linux 6.12 or newer with Landlock enabled",
            ),
            (
                self.reaches(Exposure::Session),
                "builds can start programs outside the sandbox, through this user's service manager in /run/user",
                "run it as a user that never logs in, as root, or where all users can create user namespaces",
            ),
            (
                self.reaches(Exposure::Containers),
                "builds can start containers or virtual machines, and through them access everything",
                "remove the user of builds from the groups of these services, run this service as root, or where all \
                 users can create user namespaces",
            ),
        ];
        opened(ways)
    }

    fn network(&self) -> Vec<Opening> {
        let http = self.open_ports.contains(&super::HTTP);
        let ports = self.available.ports;
        let mut openings = opened([
            (
                !ports,
                "builds can connect to the servers of this machine",
                "requires Linux 6.7 or newer with Landlock, on x86-64 or ARM64",
            ),
            (
                !self.closes_metadata && ports && !http,
                "builds cannot connect to port 80 on any host, because they could query a cloud's metadata service",
                "run it as root, with `ip` installed, to close only that service; --open-port 80 opens both",
            ),
            (
                !self.closes_metadata && (!ports || http),
                "builds can get credentials from a cloud's metadata service, if this machine is in a cloud",
                "run it as root, with `ip` installed",
            ),
        ]);
        if !self.open_ports.is_empty() {
            let list: Vec<_> = self.open_ports.iter().map(u16::to_string).collect();
            openings.push(always(format!(
                "builds can connect to the ports of --open-port: {}",
                list.join(", ")
            )));
        }
        if ports {
            let http = if self.closes_metadata || http { ", 80" } else { "" };
            openings.push(always(format!(
                "builds can connect to the ports 22, 53{http} and 443 of this machine, to its servers that start \
                 after a step, and to all of its servers over UDP"
            )));
        }
        openings
    }

    fn rest(&self) -> Vec<Opening> {
        let Available { user, landlock, .. } = self.available;
        let namespaces = "requires root, or user namespaces for all users";
        let mut openings = opened([
            (
                self.reaches(Exposure::Run),
                "builds can use the sockets in /run that are open to their user: databases, the message bus, other \
                 services",
                "requires root, or user namespaces for all users, and no --writable directory in /run",
            ),
            (
                cfg!(target_os = "linux") && !self.apart,
                "builds share memory segments and message queues with other programs of their user",
                namespaces,
            ),
            (
                self.reaches(Exposure::CommandLines),
                "builds can read the command lines of other processes: keep secrets out of them",
                "requires root",
            ),
            (
                cfg!(target_os = "linux") && landlock < Landlock::Full,
                "builds can connect to abstract sockets of other programs",
                "requires Linux 6.12 or newer with Landlock",
            ),
            (
                user && landlock == Landlock::Missing,
                "builds can read every file that all users of this machine can read",
                "requires Linux 5.13 or newer with Landlock enabled",
            ),
            (
                !user && landlock > Landlock::Missing,
                "builds can change permissions and times of this user's files, and use sockets outside /run",
                "requires root, so that builds get separate users",
            ),
        ]);
        if self.apart && !self.reaches(Exposure::Run) {
            openings.push(always(
                "in /run, builds see the resolver's directories and NixOS's current system, with their sockets"
                    .to_owned(),
            ));
        }
        openings
    }
}

fn always(what: String) -> Opening {
    Opening { what, remedy: None }
}

fn opened<const N: usize>(ways: [(bool, &str, &'static str); N]) -> Vec<Opening> {
    let open = ways.into_iter().filter(|(is_open, ..)| *is_open);
    open.map(|(_, what, remedy)| Opening {
        what: what.to_owned(),
        remedy: Some(remedy),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sandbox(reached: &[Exposure]) -> SandboxReport {
        SandboxReport {
            available: Available {
                user: false,
                as_root: false,
                landlock: Landlock::Full,
                ports: true,
            },
            apart: true,
            reached: reached.iter().copied().collect(),
            closes_metadata: false,
            open_ports: Vec::new(),
        }
    }

    #[test]
    fn what_a_step_reached_decides() {
        // Whatever the kernel claims to support.
        assert!(sandbox(&[Exposure::CommandLines, Exposure::Run]).is_enough());
        for reach in [
            Exposure::Files,
            Exposure::Signals,
            Exposure::Session,
            Exposure::Containers,
        ] {
            let weak = sandbox(&[reach]);
            assert!(!weak.is_enough(), "{reach:?}");
            assert!(weak.openings()[0].remedy.is_some(), "{reach:?}");
        }
        let mut as_root = sandbox(&[]);
        as_root.available.as_root = true;
        assert!(!as_root.is_enough());
    }

    #[test]
    fn all_that_is_open_is_named() {
        let describe = |sandbox: &SandboxReport| {
            sandbox
                .openings()
                .iter()
                .map(Opening::to_string)
                .collect::<Vec<_>>()
                .join("\n")
        };
        let mut weakest = sandbox(&Exposure::ALL);
        weakest.apart = false;
        weakest.available = Available {
            user: false,
            as_root: true,
            landlock: Landlock::Missing,
            ports: false,
        };
        let text = describe(&weakest);
        for word in [
            "root",
            "read and change",
            "signals",
            "/run/user",
            "containers",
            "servers of this machine",
            "metadata",
        ] {
            assert!(text.contains(word), "{word}: {text}");
        }
        for word in [
            "sockets in /run",
            "memory segments",
            "command lines",
            "abstract sockets",
        ] {
            assert!(text.contains(word), "{word}: {text}");
        }
        let mut strong = sandbox(&[]);
        strong.available.user = true;
        strong.closes_metadata = true;
        strong.open_ports = vec![3128];
        let lines = strong.openings();
        assert!(lines.iter().all(|opening| opening.remedy.is_none()), "{lines:?}");
        let text = describe(&strong);
        for word in ["22, 53, 80 and 443", "UDP", "--open-port: 3128", "resolver"] {
            assert!(text.contains(word), "{word}: {text}");
        }
    }
}
