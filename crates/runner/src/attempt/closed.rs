//! Explains in the log how the sandbox may have made a step fail: programs report neither that a port was closed to
//! them nor why they were killed.

use std::collections::BTreeSet;

use super::Attempt;
use crate::executor::StepEnd;

/// The signal that kills a process for a forbidden system call.
const SIGSYS: i32 = 31;
/// The maximum number of ports that are listed by number.
const MAX_PORTS: usize = 20;

impl Attempt {
    /// The TCP ports that are closed to a step that starts now; `None` if the sandbox cannot close ports.
    pub(super) fn closed_ports(&self) -> Option<BTreeSet<u16>> {
        self.sandbox.ports.as_ref()?.closed_now().ok()
    }

    /// Logs which parts of the sandbox may have made a step fail.
    pub(super) async fn explain(&self, end: StepEnd, closed: Option<&BTreeSet<u16>>) {
        let Some(closed) = closed else { return };
        for line in hints(end, closed) {
            self.log.say(&line).await;
        }
    }
}

fn hints(end: StepEnd, closed: &BTreeSet<u16>) -> Vec<String> {
    let mut hints = Vec::new();
    if end == StepEnd::Killed(SIGSYS) || end == StepEnd::Exited(128 + SIGSYS) {
        hints.push(
            "note: SIGSYS ended a program: this runner closes TCP ports to steps, so 32-bit programs do not run; use \
             a 64-bit program"
                .to_owned(),
        );
    }
    if !closed.is_empty() {
        let mut list: Vec<_> = closed.iter().take(MAX_PORTS).map(u16::to_string).collect();
        if closed.len() > MAX_PORTS {
            list.push(format!("{} more", closed.len() - MAX_PORTS));
        }
        hints.push(format!(
            "note: steps on this runner cannot connect to these TCP ports at any address: {}. Servers on the \
             runner's machine listen on them, so a connection fails with `Permission denied`. If the build needs \
             one, such as a proxy on that machine, start the runner with --open-port PORT, or the server with \
             --runner-open-ports PORT.",
            list.join(", ")
        ));
    }
    hints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_the_reason_is_said() {
        let none = BTreeSet::new();
        assert!(hints(StepEnd::Exited(1), &none).is_empty());
        for end in [StepEnd::Killed(SIGSYS), StepEnd::Exited(159)] {
            assert!(hints(end, &none)[0].contains("32-bit"), "{end:?}");
        }
        let found = hints(StepEnd::Exited(1), &BTreeSet::from([5432, 80]));
        assert_eq!(found.len(), 1);
        assert!(
            found[0].contains("at any address: 80, 5432. ") && found[0].contains("--open-port"),
            "{found:?}"
        );
        let many = hints(StepEnd::Exited(1), &(1000..1100).collect());
        assert!(many[0].contains("1019, 80 more. "), "{many:?}");
    }
}
