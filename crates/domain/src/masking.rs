//! Removes secrets from logs: raw, base64-encoded, URL- and JSON-escaped, across chunk borders and line breaks
//! (`docs/reference/builds.md#masking`). The runner masks what it sends, and the server masks again what it stores.

mod automaton;
mod spellings;

use std::collections::VecDeque;

use automaton::{Automaton, ROOT};

/// The replacement of a secret.
pub const MASK: &[u8] = b"***";
/// The minimum length in bytes of a secret that is masked: a shorter one would remove half the log.
pub const MIN_SECRET: usize = 4;

/// A compiled set of secrets. Cheap to share; each log has its own [`Masking`].
pub struct Masker {
    automaton: Automaton,
}

/// The masking of one log, chunk by chunk.
pub struct Masking<'m> {
    automaton: &'m Automaton,
    state: u32,
    /// Bytes that may still turn out to be part of a secret, and whether they are already known to be.
    held: VecDeque<(u8, bool)>,
    /// How many of them are not line breaks: only those are compared.
    solid: usize,
    /// Whether the last released byte was masked.
    in_mask: bool,
    /// Whether each masked byte becomes one `*`, rather than each run of them [`MASK`].
    keeps_length: bool,
}

impl Masker {
    /// Makes a masker of these secrets. Those shorter than [`MIN_SECRET`] bytes are ignored.
    pub fn new<'s>(secrets: impl IntoIterator<Item = &'s [u8]>) -> Masker {
        let mut automaton = Automaton::new();
        for secret in secrets {
            if secret.len() >= MIN_SECRET {
                for piece in spellings::pieces(secret) {
                    automaton.add(&piece);
                }
            }
        }
        automaton.link();
        Masker { automaton }
    }

    /// Starts masking a log.
    pub fn begin(&self) -> Masking<'_> {
        Masking {
            automaton: &self.automaton,
            state: ROOT,
            held: VecDeque::new(),
            solid: 0,
            in_mask: false,
            keeps_length: false,
        }
    }

    /// Resumes a log for which an earlier masking withheld `held`. Each masked byte becomes a `*`: the released and the
    /// withheld bytes together are as long as the input, so offsets stay valid.
    pub fn resume(&self, held: &[(u8, bool)]) -> Masking<'_> {
        let solid = held.iter().map(|(byte, _)| *byte).filter(|byte| !is_break(*byte));
        Masking {
            keeps_length: true,
            solid: solid.clone().count(),
            state: solid.fold(ROOT, |state, byte| self.automaton.next(state, byte)),
            held: held.iter().copied().collect(),
            ..self.begin()
        }
    }

    /// Masks a whole text.
    pub fn mask(&self, text: &[u8]) -> Vec<u8> {
        let (mut masking, mut out) = (self.begin(), Vec::with_capacity(text.len()));
        masking.push(text, &mut out);
        masking.finish(&mut out);
        out
    }
}

impl Masking<'_> {
    /// Adds the next bytes, and appends to `out` those that can be released. Only what may be the start of a secret is
    /// withheld.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        let mut rest = chunk;
        while !rest.is_empty() {
            if self.state == ROOT && self.held.is_empty() {
                let plain = self.automaton.plain_prefix(rest);
                if plain > 0 {
                    out.extend_from_slice(&rest[..plain]);
                    self.in_mask = false;
                    rest = &rest[plain..];
                    continue;
                }
            }
            self.step(rest[0], out);
            rest = &rest[1..];
        }
    }

    /// The bytes withheld now, each with whether it is known to belong to a secret. They may be the beginning of a secret.
    pub fn held(&self) -> Vec<(u8, bool)> {
        self.held.iter().copied().collect()
    }

    /// Releases what is still withheld: the log is complete.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.state = ROOT;
        self.release(0, out);
    }

    fn step(&mut self, byte: u8, out: &mut Vec<u8>) {
        self.held.push_back((byte, false));
        if is_break(byte) {
            self.release(self.automaton.depth(self.state), out);
            return;
        }
        self.solid += 1;
        self.state = self.automaton.next(self.state, byte);
        let mut matched = self.automaton.longest_match(self.state);
        for (held, masked) in self.held.iter_mut().rev() {
            if matched == 0 {
                break;
            }
            if !is_break(*held) {
                *masked = true;
                matched -= 1;
            }
        }
        self.release(self.automaton.depth(self.state), out);
    }

    /// Releases bytes from the front until only `keep` that are not line breaks are left.
    fn release(&mut self, keep: usize, out: &mut Vec<u8>) {
        while self.solid > keep || (keep == 0 && !self.held.is_empty()) {
            let Some((byte, masked)) = self.held.pop_front() else {
                return;
            };
            self.solid -= usize::from(!is_break(byte));
            if !masked {
                out.push(byte);
            } else if self.keeps_length {
                out.push(b'*');
            } else if !self.in_mask {
                out.extend_from_slice(MASK);
            }
            self.in_mask = masked;
        }
    }
}

fn is_break(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

#[cfg(test)]
mod tests;
