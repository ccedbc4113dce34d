//! The code of this program that is in its memory.

/// Unmaps the code of this program that has run so far, and the constants beside it. A start runs much that never runs again; what
/// does run again is mapped again, usually from the system's cache of the file. Does nothing on systems other than Linux.
pub fn unmap_code() {
    #[cfg(target_os = "linux")]
    {
        let program = std::fs::read_link("/proc/self/exe");
        let mappings = std::fs::read_to_string("/proc/self/maps");
        if let (Ok(program), Ok(mappings)) = (program, mappings) {
            for addresses in linux::code(&mappings, &program.to_string_lossy()) {
                // Only memory is at stake.
                let _ = linux::unmap(addresses);
            }
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ops::Range;

    use rustix::mm::{Advice, madvise};

    /// Where the code of `file` and what begins with the file's own header are mapped: from the text of `/proc/PID/maps`. What the
    /// loader adjusts is never among it: linkers refuse programs whose code would have to be adjusted, and put other such pages behind
    /// the code, where they can be written at first.
    pub(super) fn code(mappings: &str, file: &str) -> Vec<Range<usize>> {
        mappings.lines().filter_map(|line| code_of(line, file)).collect()
    }

    /// The addresses in a line, if it is that of such a mapping and nobody can write there.
    fn code_of(line: &str, file: &str) -> Option<Range<usize>> {
        // Addresses, permissions, offset, device, inode, and the path after spaces.
        let fields: Vec<&str> = line.splitn(6, ' ').collect();
        let ([addresses, "r-xp", _, _, _, path] | [addresses, "r--p", "00000000", _, _, path]) = fields[..] else {
            return None;
        };
        let (start, end) = addresses.split_once('-')?;
        let address = |text| usize::from_str_radix(text, 16).ok();
        (path.trim_start() == file).then_some(address(start)?..address(end)?)
    }

    #[expect(unsafe_code, reason = "no crate offers the call in a safe form")]
    pub(super) fn unmap(addresses: Range<usize>) -> rustix::io::Result<()> {
        let start = std::ptr::with_exposed_provenance_mut(addresses.start);
        // SAFETY: the pages of a private mapping that nobody can write to, and that no loader adjusts, are those of the file. Read
        // again, they have the same bytes, as long as nobody changes the program's file in place, which must not happen to a running
        // program anyway. Only breakpoints of a debugger are lost.
        unsafe { madvise(start, addresses.len(), Advice::LinuxDontNeed) }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_code_of_the_file_is_found() {
        let own = "/opt/launch way/launchway-server (deleted)";
        let line = |addresses: &str, permissions: &str, file: &str| {
            format!("{addresses} {permissions} fe:00 247026                     {file}\n")
        };
        let mappings = [
            line("1000-2000", "r--p 00000000", own),
            line("2000-5000", "r-xp 00001000", own),
            // Constants that the loader has adjusted, and data.
            line("5000-6000", "r--p 00004000", own),
            line("6000-7000", "rw-p 00005000", own),
            line("7000-8000", "rwxp 00000000", own),
            line("8000-9000", "r-xs 00000000", own),
            line("9000-a000", "r-xp 00000000", "/usr/lib/libc.so.6"),
            line("a000-b000", "r-xp 00000000", &format!("/other{own}")),
            line("b000-c000", "r-xp 00000000", "[vdso]"),
            "c000-d000 r-xp 00000000 00:00 0 \n".to_owned(),
            line("ffff0000-ffff1000", "r-xp 00006000", own),
        ];
        let found = linux::code(&mappings.concat(), own);
        assert_eq!(found, [0x1000..0x2000, 0x2000..0x5000, 0xffff_0000..0xffff_1000]);
    }

    #[test]
    fn the_program_runs_on() {
        let program = std::fs::read_link("/proc/self/exe").unwrap();
        let mappings = std::fs::read_to_string("/proc/self/maps").unwrap();
        let found = linux::code(&mappings, program.to_str().unwrap());
        assert!(!found.is_empty());
        for addresses in found {
            assert_eq!(linux::unmap(addresses), Ok(()));
        }
        unmap_code();
        let called: Box<dyn Fn(&str) -> String> = Box::new(str::to_uppercase);
        assert_eq!(called("code"), "CODE");
    }
}
