//! The service manager of the runner's own user starts programs outside of any wall. Steps of the same user reach its socket,
//! unless they are set apart from `/run`, which takes user namespaces.

use std::fs;
use std::path::Path;

/// Whether steps that run as this user, who is not root, can reach its service manager.
pub(super) fn is_reachable(uid: u32) -> bool {
    let read = |file: &str| fs::read_to_string(file).ok();
    Path::new(&format!("/run/user/{uid}")).exists() && !allows_namespaces(read)
}

/// Whether every user may make user namespaces, by the settings of the kernel.
fn allows_namespaces(read: impl Fn(&str) -> Option<String>) -> bool {
    let number = |file: &str| read(file)?.trim().parse::<u64>().ok();
    let most = number("/proc/sys/user/max_user_namespaces");
    // Debian's and Ubuntu's own settings; others lack them.
    let cloned = number("/proc/sys/kernel/unprivileged_userns_clone");
    let restricted = number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns");
    most.is_some_and(|most| most > 0) && cloned != Some(0) && restricted.is_none_or(|restricted| restricted == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_are_allowed_when_no_setting_forbids_them() {
        let with = |set: &[(&str, &str)]| {
            allows_namespaces(|file| {
                let found = set.iter().find(|(name, _)| file.ends_with(name));
                found.map(|(_, value)| format!("{value}\n"))
            })
        };
        assert!(with(&[("max_user_namespaces", "96365")]));
        assert!(with(&[
            ("max_user_namespaces", "1"),
            ("unprivileged_userns_clone", "1"),
            ("apparmor_restrict_unprivileged_userns", "0")
        ]));
        for forbidden in [
            &[][..],
            &[("max_user_namespaces", "0")],
            &[("max_user_namespaces", "many")],
            &[("max_user_namespaces", "1"), ("unprivileged_userns_clone", "0")],
            &[
                ("max_user_namespaces", "1"),
                ("apparmor_restrict_unprivileged_userns", "1"),
            ],
        ] {
            assert!(!with(forbidden), "{forbidden:?}");
        }
    }
}
