//! Refuses system calls that no build needs and that bypass the sandbox: sockets that are TCP for the peer but not for
//! Landlock, data in the first packet of a connection, rings whose operations are not checked, keys of other sessions.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

/// Multipath TCP and SMC fall back to plain TCP.
const PROTOCOLS: [u64; 2] = [262, 256];
/// SMC again, and sockets of the hypervisor.
const FAMILIES: [u64; 2] = [43, 40];
const MSG_FASTOPEN: u64 = 0x2000_0000;
/// The flag for the second number of each system call, on kernels with the x32 interface.
const X32: c_long = 0x4000_0000;

/// Whether the system call numbers of this processor are known.
pub(super) fn are_known() -> bool {
    architecture().is_some()
}

fn architecture() -> Option<TargetArch> {
    std::env::consts::ARCH.try_into().ok()
}

/// Refuses these calls to this thread and its children. A program that uses another system call interface, such as a
/// 32-bit one, is killed.
///
/// # Errors
/// A message; no part of the step may run then.
pub(super) fn refuse() -> Result<(), String> {
    let failed = |problem: &dyn std::fmt::Display| format!("cannot restrict system calls: {problem}");
    let architecture = architecture().ok_or_else(|| failed(&"this processor is not supported"))?;
    let rules = rules().map_err(|error| failed(&error))?;
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, architecture);
    let program: seccompiler::BpfProgram = filter
        .and_then(TryInto::try_into)
        .map_err(|error: seccompiler::BackendError| failed(&error))?;
    seccompiler::apply_filter(&program).map_err(|error| failed(&error))
}

fn rules() -> Result<BTreeMap<i64, Vec<SeccompRule>>, seccompiler::BackendError> {
    let is = |argument, value| {
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
            .and_then(|condition| SeccompRule::new(vec![condition]))
    };
    let has = |argument, bits| {
        let masked = SeccompCmpOp::MaskedEq(bits);
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, masked, bits)
            .and_then(|condition| SeccompRule::new(vec![condition]))
    };
    let mut sockets = Vec::new();
    for family in FAMILIES {
        sockets.push(is(0, family)?);
    }
    for protocol in PROTOCOLS {
        sockets.push(is(2, protocol)?);
    }
    let mut rules = BTreeMap::from([
        (libc::SYS_socket, sockets),
        (libc::SYS_sendto, vec![has(3, MSG_FASTOPEN)?]),
        (libc::SYS_sendmsg, vec![has(2, MSG_FASTOPEN)?]),
        (libc::SYS_sendmmsg, vec![has(3, MSG_FASTOPEN)?]),
        (libc::SYS_io_uring_setup, Vec::new()),
        (libc::SYS_io_uring_enter, Vec::new()),
        (libc::SYS_io_uring_register, Vec::new()),
        (libc::SYS_keyctl, Vec::new()),
        (libc::SYS_add_key, Vec::new()),
        (libc::SYS_request_key, Vec::new()),
    ]);
    if cfg!(target_arch = "x86_64") {
        // No current program uses that interface.
        for call in [41, 44, 46, 307, 425, 426, 427, 248, 249, 250, 518, 538] {
            rules.insert(X32 | call, Vec::new());
        }
    }
    Ok(rules)
}
