//! What a machine's sandbox is worth: a step that tries to get out is run before builds are (`trial`), and what it reached decides.
//! Settings of the kernel only say what should be possible; containers and security modules may forbid it all the same.

use std::collections::BTreeSet;

use super::trial::Reach;
use super::{Available, Landlock};

/// The sandbox of a machine, as a step found it.
#[derive(Clone, Debug)]
pub struct SandboxReport {
    /// What builds are kept apart by.
    pub available: Available,
    /// Whether steps have a view of the machine of their own.
    pub apart: bool,
    /// What a step reached all the same.
    pub reached: BTreeSet<Reach>,
    /// Whether the metadata services of clouds are closed by routing.
    pub closes_metadata: bool,
    /// The ports that the owner of the machine has opened.
    pub open_ports: Vec<u16>,
}

/// Something that is open to builds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// What, as a sentence without its stop.
    pub what: String,
    /// What closes it; nothing does where it is open on every machine.
    pub remedy: Option<&'static str>,
}

impl std::fmt::Display for Opening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)?;
        self.remedy.map_or(Ok(()), |remedy| write!(f, ": {remedy}"))
    }
}

impl SandboxReport {
    fn reaches(&self, reach: Reach) -> bool {
        self.reached.contains(&reach)
    }

    /// Whether builds of organizations that do not know each other may run here. Where not, the server serves only the
    /// first organization.
    pub fn is_enough(&self) -> bool {
        let leads_out = [Reach::Files, Reach::Signals, Reach::Session, Reach::Containers];
        !self.available.as_root && !leads_out.into_iter().any(|reach| self.reaches(reach))
    }

    /// What builds are kept apart by, for people.
    pub fn sentence(&self) -> &'static str {
        match (self.is_enough(), self.available.user, self.available.landlock) {
            (false, ..) => "builds are not kept from the rest of this machine well enough",
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

    /// What makes the sandbox too weak for builds of strangers.
    fn ways_out(&self) -> Vec<Opening> {
        let ways = [
            (
                self.available.as_root,
                "builds run as root, whom no sandbox holds for sure",
                "let builds have users of their own",
            ),
            (
                self.reaches(Reach::Files),
                "builds can read and change what this service can",
                "run it as root, so that builds get users of their own, or on Linux 5.13 or newer with Landlock on",
            ),
            (
                self.reaches(Reach::Signals),
                "builds can send signals to this service and end it",
                "run it as root, so that builds get users of their own, or on Linux 6.12 or newer with Landlock on",
            ),
            (
                self.reaches(Reach::Session),
                "builds can start programs outside of the sandbox, through the service manager of this user in /run/user",
                "run it as a user that never signs in, as root, or where everybody may make user namespaces",
            ),
            (
                self.reaches(Reach::Containers),
                "builds can start containers or virtual machines, and through them reach everything",
                "take the user of builds from the groups of these services, run this service as root, or where everybody may \
                 make user namespaces",
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
                "it takes Linux 6.7 or newer with Landlock, on x86-64 or ARM64",
            ),
            (
                !self.closes_metadata && ports && !http,
                "port 80 is closed to builds everywhere, or they could ask the metadata service of a cloud",
                "run it as root, with `ip` at hand, to close that service alone; --open-port 80 opens both",
            ),
            (
                !self.closes_metadata && (!ports || http),
                "builds can ask the metadata service of a cloud for its credentials, if this machine is in one",
                "run it as root, with `ip` at hand",
            ),
        ]);
        if !self.open_ports.is_empty() {
            let list: Vec<_> = self.open_ports.iter().map(u16::to_string).collect();
            openings.push(always(format!(
                "builds can connect to the ports that --open-port names: {}",
                list.join(", ")
            )));
        }
        if ports {
            let http = if self.closes_metadata || http { ", 80" } else { "" };
            openings.push(always(format!(
                "builds can connect to the ports 22, 53{http} and 443 of this machine, to servers of it that begin later than a \
                 step, and to all of them by UDP"
            )));
        }
        openings
    }

    fn rest(&self) -> Vec<Opening> {
        let Available { user, landlock, .. } = self.available;
        let namespaces = "it takes root, or user namespaces for everybody";
        let mut openings = opened([
            (
                self.reaches(Reach::Run),
                "builds can use the sockets in /run that are open to their user: databases, the message bus, other services",
                "it takes root, or user namespaces for everybody, and no --writable place in /run",
            ),
            (
                cfg!(target_os = "linux") && !self.apart,
                "builds share memory segments and message queues with other programs of their user",
                namespaces,
            ),
            (
                self.reaches(Reach::CommandLines),
                "builds can read the command lines of other processes: keep secrets out of them",
                "it takes root",
            ),
            (
                cfg!(target_os = "linux") && landlock < Landlock::Full,
                "builds can connect to abstract sockets of other programs",
                "it takes Linux 6.12 or newer with Landlock",
            ),
            (
                user && landlock == Landlock::Missing,
                "builds can read every file that all users of this machine may read",
                "it takes Linux 5.13 or newer with Landlock on",
            ),
            (
                !user && landlock > Landlock::Missing,
                "builds can change rights and times of the files of this user, and use sockets with a path outside of /run",
                "it takes root, so that builds get users of their own",
            ),
        ]);
        if self.apart && !self.reaches(Reach::Run) {
            openings.push(always(
                "of /run builds see the resolver's directories and NixOS's current system, and the sockets in them"
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

    fn sandbox(reached: &[Reach]) -> SandboxReport {
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
        // Whatever the kernel says that it can do.
        assert!(sandbox(&[Reach::CommandLines, Reach::Run]).is_enough());
        for reach in [Reach::Files, Reach::Signals, Reach::Session, Reach::Containers] {
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
        let told = |sandbox: &SandboxReport| {
            sandbox
                .openings()
                .iter()
                .map(Opening::to_string)
                .collect::<Vec<_>>()
                .join("\n")
        };
        let mut weakest = sandbox(&Reach::ALL);
        weakest.apart = false;
        weakest.available = Available {
            user: false,
            as_root: true,
            landlock: Landlock::Missing,
            ports: false,
        };
        let text = told(&weakest);
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
        let text = told(&strong);
        for word in ["22, 53, 80 and 443", "UDP", "--open-port names: 3128", "resolver"] {
            assert!(text.contains(word), "{word}: {text}");
        }
    }
}
