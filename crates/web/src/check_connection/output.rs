//! Answers on their way to a client. A client that sends requests and reads no answers makes a connection keep only a few.

use std::mem;

use bytes::{Buf, Bytes};

/// The bytes of answers from which on they are sent before the next request is answered. The last answer may exceed it: those to our own
/// checks have a few KiB, because release notes are limited.
const FULL: usize = 64 << 10;
/// The bytes of a body from which on it is not copied: many answers may share it.
const LARGE: usize = 16 << 10;

/// Answers, one after the other.
#[derive(Debug, Default)]
pub struct Output {
    /// All but the body of the last answer, if that is large.
    pub bytes: Vec<u8>,
    /// The body of the last answer, if it is large.
    pub body: Bytes,
}

impl Output {
    /// Adds the body of an answer whose head was written. Nothing may be added to a full output.
    pub fn push_body(&mut self, body: &Bytes) {
        debug_assert!(self.body.is_empty(), "a large body is the last");
        match body.len() < LARGE {
            true => self.bytes.extend_from_slice(body),
            false => self.body = body.clone(),
        }
    }

    /// Whether it is to be sent before anything is added.
    pub fn is_full(&self) -> bool {
        !self.body.is_empty() || self.bytes.len() >= FULL
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.bytes.len() + self.body.len()
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes everything, and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.body = Bytes::new();
    }

    /// Removes everything, and returns what follows the first `sent` bytes.
    pub fn take_from(&mut self, sent: usize) -> Output {
        let bytes = self.bytes.get(sent..).unwrap_or_default().to_vec();
        let mut body = mem::take(&mut self.body);
        body.advance(sent.saturating_sub(self.bytes.len()).min(body.len()));
        self.bytes.clear();
        Output { bytes, body }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_sent_follows_what_was() {
        let (small, large) = (Bytes::from(vec![b's'; 10]), Bytes::from(vec![b'l'; LARGE]));
        let all = [&b"head"[..], &small, b"head", &large].concat();
        for sent in [0, 3, 4, 17, 18, 19, 18 + LARGE] {
            let mut output = Output::default();
            for body in [&small, &large] {
                assert!(!output.is_full());
                output.bytes.extend_from_slice(b"head");
                output.push_body(body);
            }
            assert_eq!((output.is_full(), output.len()), (true, all.len()));
            let rest = output.take_from(sent);
            assert_eq!([&rest.bytes[..], &rest.body].concat(), &all[sent..], "{sent}");
            assert!(output.is_empty());
        }
    }

    #[test]
    fn a_large_body_is_shared() {
        let body = Bytes::from(vec![0; LARGE]);
        let mut output = Output::default();
        output.push_body(&body);
        assert_eq!(output.body.as_ptr(), body.as_ptr());
    }

    #[test]
    fn many_small_answers_fill_it() {
        let mut output = Output::default();
        let answers = (1..).take_while(|_| {
            output.push_body(&Bytes::from_static(&[0; 1000]));
            !output.is_full()
        });
        assert_eq!(answers.count(), FULL / 1000);
        output.clear();
        assert!(output.is_empty() && !output.is_full());
    }
}
