//! Three spellings of a value: the canonical one, which is what is signed, plain ASCII JSON for files that people
//! handle, and plain UTF-8 JSON, which is shorter.

use super::Value;

/// The canonical form of The Update Framework (OLPC): no white space, names in order, and in strings only `"` and `\`
/// escaped; control characters appear verbatim. It differs from RFC 8785 in these escapes.
pub fn canonical(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write(value, &mut out, canonical_string);
    out
}

/// The value as JSON of ASCII characters only, without white space and with the names in order.
pub fn to_text(value: &Value) -> String {
    let mut out = Vec::new();
    write(value, &mut out, ascii_string);
    String::from_utf8_lossy(&out).into_owned()
}

/// The value as JSON that escapes only what JSON demands, without white space and with the names in order.
pub fn to_utf8(value: &Value) -> String {
    let mut out = Vec::new();
    write(value, &mut out, utf8_string);
    String::from_utf8_lossy(&out).into_owned()
}

fn write(value: &Value, out: &mut Vec<u8>, string: fn(&str, &mut Vec<u8>)) {
    match value {
        Value::Null => out.extend(b"null"),
        Value::Bool(true) => out.extend(b"true"),
        Value::Bool(false) => out.extend(b"false"),
        Value::Integer(number) => out.extend(number.to_string().bytes()),
        Value::Text(text) => string(text, out),
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write(item, out, string);
            }
            out.push(b']');
        }
        Value::Object(members) => {
            out.push(b'{');
            for (index, (name, value)) in members.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                string(name, out);
                out.push(b':');
                write(value, out, string);
            }
            out.push(b'}');
        }
    }
}

fn canonical_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in text.bytes() {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'"');
}

fn ascii_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend([b'\\', character as u8]),
            '\n' => out.extend(b"\\n"),
            ' '..='~' => out.push(character as u8),
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    out.extend(format!("\\u{unit:04x}").bytes());
                }
            }
        }
    }
    out.push(b'"');
}

fn utf8_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', byte]),
            b'\n' => out.extend(b"\\n"),
            b'\r' => out.extend(b"\\r"),
            b'\t' => out.extend(b"\\t"),
            0..0x20 => out.extend(format!("\\u{byte:04x}").bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}
