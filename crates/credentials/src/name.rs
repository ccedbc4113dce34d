//! Names in certificates (X.501), and their text in the format of RFC 4514.

use crate::asn1::{Element, OID, SET, oid_text};
use crate::parse_error::MalformedError;

pub(crate) const COMMON_NAME: &str = "2.5.4.3";
pub(crate) const ORGANIZATION: &str = "2.5.4.10";
pub(crate) const ORGANIZATIONAL_UNIT: &str = "2.5.4.11";

/// The name of a certificate's subject or issuer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    /// The encoded name, for comparisons.
    pub(crate) der: Vec<u8>,
    /// Sets of type and value, in the order of the file.
    parts: Vec<Vec<(String, String)>>,
}

impl Name {
    /// Parses a Name, including its tag and length.
    pub(crate) fn read(element: &Element<'_>) -> Result<Self, MalformedError> {
        let mut parts = Vec::new();
        let mut sets = element.children();
        while sets.peek().is_some() {
            let mut set = sets.take(SET)?.children();
            let mut part = Vec::new();
            while set.peek().is_some() {
                let mut pair = set.take_sequence()?;
                let kind = oid_text(pair.take(OID)?.content)?;
                part.push((kind, value_text(&pair.next()?)));
            }
            parts.push(part);
        }
        Ok(Self {
            der: element.whole.to_vec(),
            parts,
        })
    }

    /// The first value of this type.
    pub(crate) fn get(&self, kind: &str) -> Option<&str> {
        let mut pairs = self.parts.iter().flatten();
        pairs.find(|(known, _)| known == kind).map(|(_, value)| value.as_str())
    }

    /// The display name: the common name, or else the whole name.
    pub(crate) fn display_name(&self) -> String {
        self.get(COMMON_NAME).map_or_else(|| self.text(), ToOwned::to_owned)
    }

    /// Text such as `CN=Upload,O=Example,C=DE`: last part first (RFC 4514).
    pub(crate) fn text(&self) -> String {
        let one = |(kind, value): &(String, String)| format!("{}={}", short_type(kind), escaped(value));
        let parts = self.parts.iter().rev();
        let texts: Vec<_> = parts
            .map(|part| part.iter().map(one).collect::<Vec<_>>().join("+"))
            .collect();
        texts.join(",")
    }
}

/// The text of any of ASN.1's string types; other values as `#` and the bytes in hex.
fn value_text(value: &Element<'_>) -> String {
    let units = |width: usize| value.content.chunks_exact(width);
    match value.tag {
        // UTF8String, NumericString, PrintableString, IA5String, VisibleString.
        0x0c | 0x12 | 0x13 | 0x16 | 0x1a => String::from_utf8_lossy(value.content).into_owned(),
        // TeletexString, which contains Latin 1 in practice.
        0x14 => value.content.iter().map(|byte| char::from(*byte)).collect(),
        // UniversalString.
        0x1c => units(4)
            .map(|four| {
                char::from_u32(four.iter().fold(0, |unit, byte| unit << 8 | u32::from(*byte)))
                    .unwrap_or(char::REPLACEMENT_CHARACTER)
            })
            .collect(),
        // BMPString.
        0x1e => utf16_text(value.content),
        _ => format!("#{}", hex::encode(value.whole)),
    }
}

/// The text of UTF-16, big endian, as in a BMPString.
pub(crate) fn utf16_text(bytes: &[u8]) -> String {
    let units = bytes.chunks_exact(2).map(|two| u16::from_be_bytes([two[0], two[1]]));
    char::decode_utf16(units)
        .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

fn short_type(kind: &str) -> &str {
    match kind {
        COMMON_NAME => "CN",
        ORGANIZATIONAL_UNIT => "OU",
        "2.5.4.6" => "C",
        "2.5.4.7" => "L",
        "2.5.4.8" => "ST",
        "2.5.4.9" => "STREET",
        "2.5.4.10" => "O",
        "0.9.2342.19200300.100.1.1" => "UID",
        "0.9.2342.19200300.100.1.25" => "DC",
        "1.2.840.113549.1.9.1" => "emailAddress",
        other => other,
    }
}

fn escaped(value: &str) -> String {
    let last = value.chars().count().wrapping_sub(1);
    let mut text = String::new();
    for (at, letter) in value.chars().enumerate() {
        if letter.is_control() {
            let mut bytes = [0; 4];
            for byte in letter.encode_utf8(&mut bytes).bytes() {
                text.push_str(&format!("\\{byte:02X}"));
            }
            continue;
        }
        let is_special = ",+\"\\<>;".contains(letter);
        let is_edge = letter == ' ' && (at == 0 || at == last);
        if is_special || is_edge {
            text.push('\\');
        }
        text.push(letter);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asn1::{SEQUENCE, der, only};

    fn name(parts: &[(&[u8], u8, &[u8])]) -> Name {
        let sets: Vec<_> = parts
            .iter()
            .map(|(oid, tag, value)| der(SET, &[&der(SEQUENCE, &[&der(OID, &[oid]), &der(*tag, &[value])])]))
            .collect();
        Name::read(&only(&der(SEQUENCE, &[&sets.concat()]), SEQUENCE).unwrap()).unwrap()
    }

    #[test]
    fn is_written_last_part_first_with_escapes() {
        let name = name(&[
            (&[0x55, 4, 6], 0x13, b"DE"),
            (&[0x55, 4, 10], 0x0c, "Müller, Söhne + \"Co\"\n".as_bytes()),
            (&[0x55, 4, 3], 0x1e, &[0, b' ', 0, b'a', 0x20, 0xac]),
            (&[0x55, 4, 11], 0x14, &[0xe9]),
            (&[0x2a, 3], 0x1c, &[0, 1, 0xf6, 0]),
            (&[0x2a, 4], 0x02, &[1]),
        ]);
        assert_eq!(
            name.text(),
            "1.2.4=#020101,1.2.3=😀,OU=é,CN=\\ a€,O=Müller\\, Söhne \\+ \\\"Co\\\"\\0A,C=DE"
        );
        assert_eq!(name.get(COMMON_NAME), Some(" a€"));
    }
}
