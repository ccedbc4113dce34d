//! Huge pages of memory. They make reading a large index faster; everywhere else they take memory that nobody uses.

/// Whether this process gets huge pages from now on. Programs that it starts inherit the answer. Does nothing on systems that
/// cannot be asked.
pub fn set_allowed(is_allowed: bool) {
    // An old kernel or a sandbox may refuse: only memory and time are at stake.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(!is_allowed);
    #[cfg(not(target_os = "linux"))]
    let _ = is_allowed;
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn they_are_allowed_and_refused() {
        for is_allowed in [false, true] {
            set_allowed(is_allowed);
            let are_disabled = rustix::thread::transparent_huge_pages_are_disabled();
            assert_eq!(are_disabled.unwrap(), !is_allowed);
        }
    }
}
