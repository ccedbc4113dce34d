//! Parses server-sent events from bytes as they arrive (the event stream format of the HTML standard). Pure.

use std::collections::VecDeque;
use std::mem::take;

/// The maximum size of an event with its lines: log chunks are small, and a build is a few KiB.
const MOST_BYTES: usize = 4 << 20;

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    /// The type; empty if it is not given.
    pub(super) name: String,
    /// Its data.
    pub(super) data: String,
    /// What to send when resuming after it.
    pub(super) id: Option<String>,
}

/// The partial next event.
#[derive(Debug, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    after_return: bool,
    begun: Event,
    has_data: bool,
}

impl Events {
    /// Adds bytes; appends the events that they complete to `whole`.
    ///
    /// # Errors
    /// An event exceeds the size limit.
    pub(super) fn push(&mut self, bytes: &[u8], whole: &mut VecDeque<Event>) -> Result<(), &'static str> {
        for byte in bytes {
            // A line ends with LF, CR, or both.
            let follows_return = take(&mut self.after_return);
            match byte {
                b'\n' if follows_return => {}
                b'\n' | b'\r' => {
                    self.after_return = *byte == b'\r';
                    let line = take(&mut self.line);
                    self.end_line(&String::from_utf8_lossy(&line), whole);
                }
                byte => self.line.push(*byte),
            }
            if self.line.len() + self.begun.data.len() > MOST_BYTES {
                return Err("an event exceeds the size limit");
            }
        }
        Ok(())
    }

    fn end_line(&mut self, line: &str, whole: &mut VecDeque<Event>) {
        if line.is_empty() {
            let event = take(&mut self.begun);
            if take(&mut self.has_data) {
                whole.push_back(event);
            }
            return;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.begun.name = value.to_owned(),
            "data" => {
                if self.has_data {
                    self.begun.data.push('\n');
                }
                self.begun.data.push_str(value);
                self.has_data = true;
            }
            "id" if !value.contains('\0') => self.begun.id = Some(value.to_owned()),
            // A comment, which keeps the connection alive, or an unused field.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(parts: &[&[u8]]) -> Vec<(String, String, Option<String>)> {
        let (mut events, mut whole) = (Events::default(), VecDeque::new());
        for part in parts {
            events.push(part, &mut whole).expect("short events");
        }
        let told = |event: Event| (event.name, event.data, event.id);
        whole.into_iter().map(told).collect()
    }

    fn event(name: &str, data: &str, id: Option<&str>) -> (String, String, Option<String>) {
        (name.to_owned(), data.to_owned(), id.map(str::to_owned))
    }

    const STREAM: &str =
        ": hello\n\nevent: log\nid: 7\ndata: one\n\nevent:end\r\ndata: {\r\ndata: }\r\n\r\nid: 9\n\ndata\n\ndata: cut";

    #[test]
    fn reads_events_as_the_standard_says() {
        let expected = [
            event("log", "one", Some("7")),
            event("end", "{\n}", None),
            event("", "", None),
        ];
        assert_eq!(read(&[STREAM.as_bytes()]), expected);
    }

    #[test]
    fn one_that_never_ends_is_refused() {
        let (mut events, mut whole) = (Events::default(), VecDeque::new());
        let part = vec![b'x'; 1 << 20];
        let refused = (0..6).any(|_| events.push(&part, &mut whole).is_err());
        assert!(refused && whole.is_empty());
    }

    proptest! {
        #[test]
        fn however_the_bytes_are_cut(cuts in proptest::collection::vec(0..STREAM.len(), 0..8)) {
            let mut cuts = cuts;
            cuts.sort_unstable();
            let mut parts = Vec::new();
            let mut from = 0;
            for cut in cuts {
                parts.push(&STREAM.as_bytes()[from..cut]);
                from = cut;
            }
            parts.push(&STREAM.as_bytes()[from..]);
            prop_assert_eq!(read(&parts), read(&[STREAM.as_bytes()]));
        }
    }
}
