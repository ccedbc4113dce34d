//! Asks the processor for memory before it is read, so that other work can be done until it has arrived.

/// The bytes that a processor fetches from memory at once.
pub const LINE: usize = 64;

/// Begins to fetch the line of memory that a value begins in. Unlike a read, it does not make the processor wait for memory, only for the
/// address of a page that it has not used lately. Does nothing where the processor's instruction for it is not known.
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    safe_arch::prefetch_t0(value);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

/// Begins to fetch so many lines of memory, as far as there are any, from this place on.
pub fn prefetch_lines(bytes: &[u8], start: usize, lines: usize) {
    for line in 0..lines {
        if let Some(byte) = bytes.get(start + line * LINE) {
            prefetch(byte);
        }
    }
}
