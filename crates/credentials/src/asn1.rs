//! ASN.1 as found in real files: definite and indefinite lengths, strings in parts (BER, X.690). Borrows its input.

use std::borrow::Cow;

use crate::parse_error::MalformedError;

pub(crate) const INTEGER: u8 = 0x02;
pub(crate) const BIT_STRING: u8 = 0x03;
pub(crate) const OCTET_STRING: u8 = 0x04;
pub(crate) const NULL: u8 = 0x05;
pub(crate) const OID: u8 = 0x06;
pub(crate) const SEQUENCE: u8 = 0x30;
pub(crate) const SET: u8 = 0x31;
/// The bit of a tag that marks a constructed element.
pub(crate) const CONSTRUCTED: u8 = 0x20;

/// The maximum nesting of elements of indefinite length, and of strings in parts.
const MAX_DEPTH: usize = 16;
/// None of the supported formats contains longer identifiers.
const MAX_OID_BYTES: usize = 64;

/// The constructed context-specific tag with this number.
pub(crate) const fn context(number: u8) -> u8 {
    0xa0 | number
}

/// One element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Element<'a> {
    pub(crate) tag: u8,
    /// The content, without tag, length and end mark.
    pub(crate) content: &'a [u8],
    /// The element with its tag and length.
    pub(crate) whole: &'a [u8],
}

/// Reads elements sequentially.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a>(&'a [u8]);

/// A tag, the length of the content (`None`: indefinite), and the size of both.
struct Header {
    tag: u8,
    length: Option<usize>,
    size: usize,
}

/// Parses the single element that `bytes` consists of, which must have this tag.
pub(crate) fn only(bytes: &[u8], tag: u8) -> Result<Element<'_>, MalformedError> {
    let mut reader = Reader::new(bytes);
    let element = reader.take(tag)?;
    reader.finish()?;
    Ok(element)
}

/// Whether `bytes` are exactly one SEQUENCE, which the result of a decryption with a wrong password hardly ever is.
pub(crate) fn is_one_sequence(bytes: &[u8]) -> bool {
    only(bytes, SEQUENCE).is_ok()
}

/// Encodes one element in DER.
pub(crate) fn der(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut bytes = vec![tag];
    if length < 0x80 {
        bytes.push(length as u8);
    } else {
        let digits = length.to_be_bytes();
        let digits = without_leading_zeros(&digits);
        bytes.push(0x80 | digits.len() as u8);
        bytes.extend(digits);
    }
    bytes.extend(parts.iter().copied().flatten());
    bytes
}

/// Encodes a non-negative number, passed as big-endian bytes, in DER.
pub(crate) fn der_unsigned(magnitude: &[u8]) -> Vec<u8> {
    let magnitude = without_leading_zeros(magnitude);
    let has_sign_bit = magnitude.first().is_none_or(|first| *first >= 0x80);
    der(INTEGER, &[if has_sign_bit { &[0] } else { &[] }, magnitude])
}

/// Encodes an identifier, written with dots, in DER.
pub(crate) fn der_oid(text: &str) -> Vec<u8> {
    let mut arcs = text.split('.').map(|arc| arc.parse::<u64>().unwrap_or_default());
    let (first, second) = (arcs.next().unwrap_or_default(), arcs.next().unwrap_or_default());
    let mut content = Vec::new();
    for arc in std::iter::once(first * 40 + second).chain(arcs) {
        let digits = (u64::BITS - arc.leading_zeros()).div_ceil(7).max(1);
        for digit in (0..digits).rev() {
            let more = if digit > 0 { 0x80 } else { 0 };
            content.push((arc >> (7 * digit)) as u8 & 0x7f | more);
        }
    }
    der(OID, &[&content])
}

pub(crate) fn without_leading_zeros(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    &bytes[zeros..]
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The tag of the next element, if there is one.
    pub(crate) fn peek(&self) -> Option<u8> {
        self.0.first().copied()
    }

    /// The next element, with any tag.
    pub(crate) fn next(&mut self) -> Result<Element<'a>, MalformedError> {
        let header = Header::read(self.0)?;
        let body = &self.0[header.size..];
        let (content, end) = match header.length {
            Some(length) => (length, length),
            None => indefinite(body)?,
        };
        let element = Element {
            tag: header.tag,
            content: body.get(..content).ok_or(MalformedError)?,
            whole: self.0.get(..header.size + end).ok_or(MalformedError)?,
        };
        self.0 = &body[end..];
        Ok(element)
    }

    /// The next element, which must have this tag.
    pub(crate) fn take(&mut self, tag: u8) -> Result<Element<'a>, MalformedError> {
        self.take_if(tag)?.ok_or(MalformedError)
    }

    /// The next element, if it has this tag.
    pub(crate) fn take_if(&mut self, tag: u8) -> Result<Option<Element<'a>>, MalformedError> {
        if self.peek() == Some(tag) {
            self.next().map(Some)
        } else {
            Ok(None)
        }
    }

    /// The bytes of the next OCTET STRING, or of one with this primitive tag in place of its own. A string in parts is
    /// concatenated.
    pub(crate) fn take_octets(&mut self, tag: u8) -> Result<Cow<'a, [u8]>, MalformedError> {
        let element = self.next()?;
        if element.tag == tag {
            return Ok(Cow::Borrowed(element.content));
        }
        if element.tag != tag | CONSTRUCTED {
            return Err(MalformedError);
        }
        let mut bytes = Vec::new();
        join_pieces(element.content, &mut bytes, MAX_DEPTH)?;
        Ok(Cow::Owned(bytes))
    }

    /// The children of the next SEQUENCE.
    pub(crate) fn take_sequence(&mut self) -> Result<Reader<'a>, MalformedError> {
        Ok(self.take(SEQUENCE)?.children())
    }

    /// The next OID, as text such as `1.2.840.113549.1.7.1`.
    pub(crate) fn take_oid(&mut self) -> Result<String, MalformedError> {
        oid_text(self.take(OID)?.content)
    }

    /// The next INTEGER, which must not be negative, as big-endian bytes without leading zeros.
    pub(crate) fn take_unsigned(&mut self) -> Result<&'a [u8], MalformedError> {
        let content = self.take(INTEGER)?.content;
        match content.first() {
            Some(first) if *first < 0x80 => Ok(without_leading_zeros(content)),
            _ => Err(MalformedError),
        }
    }

    /// The next INTEGER, which should be small. A larger one than fits is the maximum of the type.
    pub(crate) fn take_number(&mut self) -> Result<u64, MalformedError> {
        let digits = self.take_unsigned()?;
        if digits.len() > 8 {
            return Ok(u64::MAX);
        }
        Ok(digits.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// The bytes of the next BIT STRING, which must have no unused bits.
    pub(crate) fn take_bits(&mut self) -> Result<&'a [u8], MalformedError> {
        let content = self.take(BIT_STRING)?.content;
        match content.split_first() {
            Some((0, bytes)) => Ok(bytes),
            _ => Err(MalformedError),
        }
    }

    /// The next AlgorithmIdentifier: its OID and its parameters.
    pub(crate) fn take_algorithm(&mut self) -> Result<(String, Reader<'a>), MalformedError> {
        let mut algorithm = self.take_sequence()?;
        Ok((algorithm.take_oid()?, algorithm))
    }

    /// Fails if any element is left.
    pub(crate) fn finish(self) -> Result<(), MalformedError> {
        if self.0.is_empty() { Ok(()) } else { Err(MalformedError) }
    }
}

impl<'a> Element<'a> {
    pub(crate) fn children(&self) -> Reader<'a> {
        Reader(self.content)
    }
}

impl Header {
    fn read(bytes: &[u8]) -> Result<Self, MalformedError> {
        let [tag, first, rest @ ..] = bytes else {
            return Err(MalformedError);
        };
        // No supported format has tags of several bytes.
        if tag & 0x1f == 0x1f {
            return Err(MalformedError);
        }
        let count = usize::from(first & 0x7f);
        if *first < 0x80 {
            return Ok(Self {
                tag: *tag,
                length: Some(count),
                size: 2,
            });
        }
        if count == 0 {
            let is_constructed = tag & CONSTRUCTED != 0;
            return if is_constructed {
                Ok(Self {
                    tag: *tag,
                    length: None,
                    size: 2,
                })
            } else {
                Err(MalformedError)
            };
        }
        let digits = without_leading_zeros(rest.get(..count).ok_or(MalformedError)?);
        if digits.len() > 4 {
            return Err(MalformedError);
        }
        let length = digits.iter().fold(0u64, |length, byte| length << 8 | u64::from(*byte));
        let length = usize::try_from(length).map_err(|_| MalformedError)?;
        Ok(Self {
            tag: *tag,
            length: Some(length),
            size: 2 + count,
        })
    }
}

/// The length of the content of `body` up to its end-of-contents mark, without and with the mark. Linear in the length.
fn indefinite(body: &[u8]) -> Result<(usize, usize), MalformedError> {
    let (mut at, mut depth) = (0, 1);
    loop {
        let rest = &body[at..];
        if rest.starts_with(&[0, 0]) {
            depth -= 1;
            if depth == 0 {
                return Ok((at, at + 2));
            }
            at += 2;
            continue;
        }
        let header = Header::read(rest)?;
        match header.length {
            Some(length) if length <= rest.len() - header.size => at += header.size + length,
            None if depth < MAX_DEPTH => {
                depth += 1;
                at += header.size;
            }
            _ => return Err(MalformedError),
        }
    }
}

fn join_pieces(content: &[u8], bytes: &mut Vec<u8>, depth: usize) -> Result<(), MalformedError> {
    let mut pieces = Reader(content);
    while let Some(tag) = pieces.peek() {
        let piece = pieces.next()?;
        match tag {
            OCTET_STRING => bytes.extend(piece.content),
            0x24 if depth > 1 => join_pieces(piece.content, bytes, depth - 1)?,
            _ => return Err(MalformedError),
        }
    }
    Ok(())
}

/// An OID in dotted form.
pub(crate) fn oid_text(content: &[u8]) -> Result<String, MalformedError> {
    if content.is_empty() || content.len() > MAX_OID_BYTES || content.last().is_some_and(|last| *last >= 0x80) {
        return Err(MalformedError);
    }
    let mut text = String::new();
    let mut number = 0u64;
    for byte in content {
        if number > u64::MAX >> 7 {
            return Err(MalformedError);
        }
        number = number << 7 | u64::from(byte & 0x7f);
        if *byte >= 0x80 {
            continue;
        }
        if text.is_empty() {
            let first = (number / 40).min(2);
            text = format!("{first}.{}", number - 40 * first);
        } else {
            text.push_str(&format!(".{number}"));
        }
        number = 0;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_forms_of_length() {
        let definite = [0x30, 0x03, 0x02, 0x01, 0x05];
        let long = [0x30, 0x83, 0x00, 0x00, 0x03, 0x02, 0x01, 0x05];
        let indefinite = [0x30, 0x80, 0x02, 0x01, 0x05, 0x00, 0x00];
        for bytes in [&definite[..], &long, &indefinite] {
            let element = only(bytes, SEQUENCE).unwrap();
            assert_eq!((element.content, element.whole), (&[0x02, 0x01, 0x05][..], bytes));
            assert_eq!(element.children().take_number(), Ok(5));
            for length in 0..bytes.len() {
                assert!(only(&bytes[..length], SEQUENCE).is_err(), "{bytes:?} cut to {length}");
            }
        }
    }

    #[test]
    fn puts_strings_in_pieces_together() {
        let bytes = [0x24, 0x80, 0x04, 0x02, 1, 2, 0x24, 0x03, 0x04, 0x01, 3, 0x04, 0, 0, 0];
        assert_eq!(
            Reader::new(&bytes).take_octets(OCTET_STRING).as_deref(),
            Ok(&[1, 2, 3][..])
        );
        let foreign = [0x24, 0x80, 0x02, 0x01, 1, 0, 0];
        assert!(Reader::new(&foreign).take_octets(OCTET_STRING).is_err());
    }

    #[test]
    fn refuses_what_is_too_deep_or_too_long() {
        let deep = |depth: usize| [[0x24, 0x80].repeat(depth), [0, 0].repeat(depth)].concat();
        assert_eq!(Reader::new(&deep(16)).take_octets(OCTET_STRING).as_deref(), Ok(&[][..]));
        for bytes in [
            deep(17),
            deep(100_000),
            [0x30, 0x80].repeat(100_000),
            vec![0x30, 0x84, 0xff, 0xff, 0xff, 0xff],
            vec![0x30, 0x88, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            vec![0x30, 0xff],
            vec![0x04, 0x80, 0x00, 0x00],
            vec![0x3f, 0x81, 0x00, 0x00],
        ] {
            assert!(Reader::new(&bytes).next().is_err());
        }
    }

    #[test]
    fn numbers_are_read_and_written() {
        for (bytes, number) in [
            (&[0x02, 0x01, 0x00][..], Ok(0)),
            (&[0x02, 0x02, 0x00, 0x80], Ok(128)),
            (&[0x02, 0x09, 1, 0, 0, 0, 0, 0, 0, 0, 0], Ok(u64::MAX)),
            (&[0x02, 0x01, 0x80], Err(MalformedError)),
            (&[0x02, 0x00], Err(MalformedError)),
        ] {
            assert_eq!(Reader::new(bytes).take_number(), number, "{bytes:?}");
        }
        assert_eq!(der_unsigned(&[0, 0x80]), [0x02, 0x02, 0x00, 0x80]);
        assert_eq!(der_unsigned(&[]), [0x02, 0x01, 0x00]);
        assert_eq!(der(SEQUENCE, &[&[7; 200], &[8; 100]])[..5], [0x30, 0x82, 0x01, 0x2c, 7]);
    }

    #[test]
    fn identifiers_are_written_as_they_are_read() {
        for text in [
            "1.2.840.113549.1.12.10.1.2",
            "2.5.4.3",
            "2.16.840.1.101.3.4.1.42",
            "1.3.14.3.2.26",
            "2.999.0.127.128",
        ] {
            let encoded = der_oid(text);
            let element = only(&encoded, OID).expect("one identifier");
            assert_eq!(oid_text(element.content).as_deref(), Ok(text));
        }
    }

    #[test]
    fn identifiers_are_shown_with_dots() {
        for (bytes, text) in [
            (
                &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01][..],
                Some("1.2.840.113549.1.7.1"),
            ),
            (&[0x88, 0x37], Some("2.999")),
            (&[0x55, 0x04, 0x03], Some("2.5.4.3")),
            (&[], None),
            (&[0x2a, 0x86], None),
            (
                &[0x2a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
                None,
            ),
        ] {
            assert_eq!(oid_text(bytes).ok().as_deref(), text, "{bytes:?}");
        }
    }
}
