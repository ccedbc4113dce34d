//! Memory that the allocator holds although nobody uses it.

/// Gives memory that is free back to the system now, but for what other threads keep to use again. The allocator itself waits for a second, and then until somebody needs memory: after
/// the start of a server that nobody asks for anything, it would keep what loading the index needed.
#[expect(unsafe_code, reason = "the allocator's crate offers no safe form")]
pub fn give_back() {
    // SAFETY: the function takes nothing but a switch, may be called from each thread at any time, and touches only memory that is free.
    unsafe { libmimalloc_sys::mi_collect(true) }
}
