//! Closes the metadata services of clouds, which hand out credentials of the machine to its processes, to the users of
//! builds. It uses routing rules per user, which only root can set and which outlast the runner.

use std::process::{Command, Stdio};

/// The addresses of these services. Only TCP is closed, as some also serve DNS.
const NETWORKS: [(&str, &str); 6] = [
    ("-4", "169.254.0.0/16"),
    ("-4", "100.100.100.200/32"),
    ("-4", "168.63.129.16/32"),
    ("-4", "192.0.0.192/32"),
    ("-6", "fd00:ec2::/32"),
    ("-6", "fd20:ce::/32"),
];
/// Before the rules that route anywhere.
const PREFERENCE: &str = "58";
const PLACES: [&str; 4] = ["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip", "/bin/ip"];

/// Closes them to a user. Returns whether they are closed.
pub fn close(uid: u32) -> bool {
    if !rustix::process::geteuid().is_root() {
        return false;
    }
    // Other programs that manage the machine's routes may have removed the rules.
    if is_closed(uid) {
        return true;
    }
    let users = format!("{uid}-{uid}");
    for (family, network) in NETWORKS {
        let words = [
            family, "rule", "add", "pref", PREFERENCE, "uidrange", &users, "to", network, "ipproto", "tcp", "prohibit",
        ];
        // An existing rule is an error; whether the rules work is checked below.
        let _ = ip(&words);
    }
    is_closed(uid)
}

fn is_closed(uid: u32) -> bool {
    let user = uid.to_string();
    let prohibited = |family: &str, address: &str| {
        let words = [family, "route", "get", address, "uid", &user, "ipproto", "tcp"];
        ip(&words).is_some_and(|said| said.contains("Permission denied"))
    };
    let has_ipv6 = std::fs::read_to_string("/proc/net/if_inet6").is_ok_and(|addresses| !addresses.is_empty());
    prohibited("-4", "169.254.169.254") && (!has_ipv6 || prohibited("-6", "fd00:ec2::254"))
}

/// The error message of `ip`; `None` if it succeeded.
fn ip(words: &[&str]) -> Option<String> {
    let program = PLACES.iter().find(|place| std::path::Path::new(place).exists())?;
    let mut command = Command::new(program);
    command.args(words).env_clear().stdin(Stdio::null());
    let output = command.output().ok()?;
    Some(String::from_utf8_lossy(&output.stderr).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_closed_stays_closed_to_that_user_alone() {
        if !close(59_790) {
            println!("routing cannot be changed on this machine: not tested");
            return;
        }
        assert!(close(59_790));
        assert!(!is_closed(59_789) && !is_closed(0));
        let rules = Command::new("ip").args(["-4", "rule", "show"]).output().unwrap();
        let rules = String::from_utf8_lossy(&rules.stdout).into_owned();
        let ours = rules.lines().filter(|line| line.contains("59790-59790")).count();
        assert_eq!(ours, 4, "a rule stands once, however often it is asked for: {rules}");
        for (family, network) in NETWORKS {
            let words = ["rule", "del", "uidrange", "59790-59790", "to", network];
            let deleted = Command::new("ip").arg(family).args(words).status();
            assert!(deleted.unwrap().success() || family == "-6");
        }
        assert!(!is_closed(59_790));
    }
}
