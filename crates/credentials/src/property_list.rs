//! Untrusted XML property lists. Depth and size are bounded on the parser's events, before a tree is built: building,
//! walking and dropping a deep tree all use the stack.

use plist::stream::{Event, OwnedEvent, XmlReader};
use plist::{Dictionary, Value};

use crate::parse_error::MalformedError;

/// The maximum nesting of arrays and dictionaries. Real lists stay below ten.
const MAX_DEPTH: usize = 32;
/// The maximum number of keys, values and ends of collections. Large real lists have some thousand.
const MAX_EVENTS: usize = 1 << 16;

/// Parses the outermost dictionary of an XML property list.
///
/// # Errors
/// The list is invalid, or deeper or larger than any real one.
pub fn read_xml_dictionary(bytes: &[u8]) -> Result<Dictionary, MalformedError> {
    let mut events = Bounded::new(XmlReader::new(bytes));
    let value = Value::from_events(events.by_ref()).map_err(|_| MalformedError)?;
    // Without this check the builder would accept a list whose second root was cut off.
    if events.is_over {
        return Err(MalformedError);
    }
    value.into_dictionary().ok_or(MalformedError)
}

/// Events up to the first that exceeds a bound.
struct Bounded<I> {
    events: I,
    depth: usize,
    left: usize,
    is_over: bool,
}

impl<I> Bounded<I> {
    fn new(events: I) -> Self {
        Self {
            events,
            depth: 0,
            left: MAX_EVENTS,
            is_over: false,
        }
    }

    /// Counts an event; `None` if it exceeds a bound.
    fn count(&mut self, event: &OwnedEvent) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        match event {
            Event::StartArray(_) | Event::StartDictionary(_) => self.depth += 1,
            Event::EndCollection => self.depth = self.depth.checked_sub(1)?,
            _ => {}
        }
        (self.depth <= MAX_DEPTH).then_some(())
    }
}

impl<I: Iterator<Item = Result<OwnedEvent, plist::Error>>> Iterator for Bounded<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let event = self.events.next()?;
        if let Ok(event) = &event
            && self.count(event).is_none()
        {
            self.is_over = true;
            return None;
        }
        Some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list with nested arrays to depth `depth` below its dictionary, opened and closed by these tags.
    fn nested(depth: usize, open: &str, close: &str) -> Vec<u8> {
        let text = [&open.repeat(depth), "<true/>", &close.repeat(depth)].concat();
        format!("<plist><dict><key>a</key>{text}</dict></plist>").into_bytes()
    }

    #[test]
    fn the_depth_is_bounded_in_every_spelling_of_a_tag() {
        for (open, close) in [
            ("<array>", "</array>"),
            ("<x:array>", "</x:array>"),
            ("<dict><key>k</key>", "</dict>"),
            ("<x:dict><y:key>k</y:key>", "</x:dict>"),
            ("<array xmlns='http://example.com/'>", "</array>"),
            ("<array\n>", "</array >"),
            ("<array><!-- --><![CDATA[ ]]>", "</array>"),
        ] {
            assert!(
                read_xml_dictionary(&nested(MAX_DEPTH - 1, open, close)).is_ok(),
                "{open}"
            );
            for depth in [MAX_DEPTH, 200_000] {
                assert_eq!(
                    read_xml_dictionary(&nested(depth, open, close)),
                    Err(MalformedError),
                    "{open}"
                );
            }
            assert_eq!(
                read_xml_dictionary(open.repeat(200_000).as_bytes()),
                Err(MalformedError),
                "{open}"
            );
        }
    }

    #[test]
    fn names_in_another_case_are_no_collections() {
        assert_eq!(
            read_xml_dictionary(&nested(200_000, "<ARRAY>", "</ARRAY>")),
            Err(MalformedError)
        );
        assert_eq!(read_xml_dictionary(&b"<plist>".repeat(200_000)), Err(MalformedError));
    }

    #[test]
    fn the_number_of_items_is_bounded() {
        let list = |items: usize| {
            format!(
                "<plist><dict><key>a</key><array>{}</array></dict></plist>",
                "<true/>".repeat(items)
            )
        };
        // The two collections open and close, and there is the key.
        assert!(read_xml_dictionary(list(MAX_EVENTS - 5).as_bytes()).is_ok());
        assert_eq!(
            read_xml_dictionary(list(MAX_EVENTS - 4).as_bytes()),
            Err(MalformedError)
        );
    }

    #[test]
    fn a_second_list_after_the_first_is_refused_even_too_deep() {
        let second = [b"<plist><dict></dict>".to_vec(), b"<array>".repeat(MAX_DEPTH + 1)].concat();
        assert_eq!(read_xml_dictionary(&second), Err(MalformedError));
    }
}
