//! Hostile apps and profiles, generated here.

use std::io::{Cursor, Write};

use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const INFO: &str = "Payload/A.app/Info.plist";
const DAMAGED: &str = "Info.plist in the file is truncated or damaged.";

/// What it is, a name, the bytes, and a part of the message about it.
pub fn apps() -> Vec<(&'static str, &'static str, Vec<u8>, &'static str)> {
    let xml = |open: &str, close: &str| ipa(nested_xml(100_000, open, close).as_bytes());
    let manifest = "base/manifest/AndroidManifest.xml";
    vec![
        ("arrays with a prefix", "a.ipa", xml("<x:array>", "</x:array>"), DAMAGED),
        ("dictionaries with a prefix", "a.ipa", xml("<x:dict><key>k</key>", "</x:dict>"), DAMAGED),
        ("arrays of a namespace", "a.ipa", xml("<array xmlns='a:b'>", "</array>"), DAMAGED),
        ("arrays behind CDATA", "a.ipa", xml("<![CDATA[]]><array >", "</array >"), DAMAGED),
        ("arrays that never end", "a.ipa", xml("<x:array>", ""), DAMAGED),
        ("lists that hold each other", "a.ipa", ipa(&binary_list(&in_each_other())), "has no CFBundleIdentifier"),
        ("a list that holds itself", "a.ipa", ipa(&binary_list(&[vec![0xa2, 0, 0]])), DAMAGED),
        ("a table larger than the file", "a.ipa", ipa(&with_trailer(1 << 60, 0, 8)), DAMAGED),
        ("a top object far away", "a.ipa", ipa(&with_trailer(1, u64::MAX, 8)), DAMAGED),
        (
            "a manifest nested in protocol buffers",
            "a.aab",
            packed(&[(manifest, &nested_protobuf(200_000))]),
            "has no package",
        ),
        ("a directory of another length", "a.apk", lying(12), "truncated or damaged"),
        ("a directory at another place", "a.apk", lying(16), "truncated or damaged"),
    ]
}

/// Correctly signed profiles with a hostile property list inside.
pub fn profiles() -> Vec<(&'static str, Vec<u8>)> {
    let xml = |open: &str, close: &str| signed(nested_xml(28_000, open, close).as_bytes());
    vec![
        ("arrays with a prefix", xml("<x:array>", "</x:array>")),
        ("dictionaries with a prefix", xml("<x:dict><key/>", "</x:dict>")),
        ("arrays that never end", signed(nested_xml(60_000, "<x:array>", "").as_bytes())),
        ("arrays of a namespace", xml("<array xmlns=''>", "</array>")),
    ]
}

/// An iOS app with this profile in it.
pub fn ipa_with_profile(profile: &[u8]) -> Vec<u8> {
    let info = "<plist><dict><key>CFBundleIdentifier</key><string>com.example.app</string></dict></plist>";
    packed(&[(INFO, info.as_bytes()), ("Payload/A.app/embedded.mobileprovision", profile)])
}

fn ipa(info: &[u8]) -> Vec<u8> {
    packed(&[(INFO, info)])
}

fn packed(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn nested_xml(depth: usize, open: &str, close: &str) -> String {
    let (open, close) = (open.repeat(depth), close.repeat(depth));
    format!(
        "<plist><dict><key>CFBundleIdentifier</key><string>a.b</string><key>k</key>{open}<true/>{close}</dict></plist>"
    )
}

/// A binary property list of these objects; the first one is the root.
fn binary_list(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"bplist00".to_vec();
    let mut places = Vec::new();
    for object in objects {
        places.push(bytes.len() as u32);
        bytes.extend(object);
    }
    let table = bytes.len() as u64;
    for place in &places {
        bytes.extend(place.to_be_bytes());
    }
    bytes.extend([0, 0, 0, 0, 0, 0, 4, 1]);
    for number in [places.len() as u64, 0, table] {
        bytes.extend(number.to_be_bytes());
    }
    bytes
}

/// A dictionary with one key, and below it lists that each contain the next one twice.
fn in_each_other() -> Vec<Vec<u8>> {
    let mut objects = vec![vec![0xd1, 1, 2], b"\x51k".to_vec()];
    objects.extend((3..=250).map(|next| vec![0xa2, next, next]));
    objects.push(vec![0xa0]);
    objects
}

/// A binary property list whose trailer claims this number of objects, this root, and this size of numbers.
fn with_trailer(count: u64, top: u64, size: u8) -> Vec<u8> {
    let mut bytes = b"bplist00\xd0".to_vec();
    bytes.extend([0, 0, 0, 0, 0, 0, size, size]);
    for number in [count, top, 1 << 40] {
        bytes.extend(number.to_be_bytes());
    }
    bytes
}

/// Nested protocol buffer messages: an XmlNode (1) with an element with a child (5).
fn nested_protobuf(depth: usize) -> Vec<u8> {
    // From the inside out, with the bytes reversed.
    let mut reversed = Vec::new();
    for level in 0..2 * depth {
        let mut length = reversed.len();
        let mut varint = Vec::new();
        loop {
            let more = length >= 0x80;
            varint.push(length as u8 & 0x7f | if more { 0x80 } else { 0 });
            length >>= 7;
            if !more {
                break;
            }
        }
        reversed.extend(varint.iter().rev());
        reversed.push(if level % 2 == 0 { 5 << 3 | 2 } else { 1 << 3 | 2 });
    }
    reversed.reverse();
    reversed
}

/// An archive whose end record claims something else about its directory, at this position.
fn lying(place: usize) -> Vec<u8> {
    let mut bytes = packed(&[("AndroidManifest.xml", b"x"), ("b", b"y")]);
    let end = bytes.len() - 22 + place;
    bytes[end..end + 4].copy_from_slice(&0x7fff_fff0_u32.to_le_bytes());
    bytes
}

fn der(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    let length = content.len() as u32;
    let header =
        if length < 0x80 { vec![tag, length as u8] } else { [&[tag, 0x84], &length.to_be_bytes()[..]].concat() };
    [header, content].concat()
}

/// Signed data like a profile, signed with its own key.
pub fn signed(content: &[u8]) -> Vec<u8> {
    let random = SystemRandom::new();
    let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &random).unwrap();
    let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, document.as_ref(), &random).unwrap();
    let oid = |bytes: &[u8]| der(0x06, &[bytes]);
    let sha256 = der(0x30, &[&oid(&[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1])]);
    let ecdsa = der(0x30, &[&oid(&[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2])]);
    let curve = [oid(&[0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1]), oid(&[0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7])].concat();
    let public = der(0x03, &[&[0], key.public_key().as_ref()]);
    let name = der(0x30, &[&der(0x31, &[&der(0x30, &[&oid(&[0x55, 4, 3]), &der(0x0c, &[b"A"])])])]);
    let serial = der(0x02, &[&[1]]);
    let times = [der(0x17, &[b"200101000000Z"]), der(0x17, &[b"490101000000Z"])].concat();
    let info = der(0x30, &[&der(0x30, &[&curve]), &public]);
    let validity = der(0x30, &[&times]);
    let fields = der(0x30, &[&serial, &ecdsa, &name, &validity, &name, &info]);
    let certificate = der(0x30, &[&fields, &ecdsa, &der(0x03, &[&[0, 0]])]);
    // Without attributes the signature covers the content itself.
    let signature = key.sign(&random, content).unwrap();
    let signer = der(
        0x30,
        &[&der(0x02, &[&[1]]), &der(0x30, &[&name, &serial]), &sha256, &ecdsa, &der(0x04, &[signature.as_ref()])],
    );
    let encapsulated =
        der(0x30, &[&oid(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 1]), &der(0xa0, &[&der(0x04, &[content])])]);
    let data = der(
        0x30,
        &[
            &der(0x02, &[&[1]]),
            &der(0x31, &[&sha256]),
            &encapsulated,
            &der(0xa0, &[&certificate]),
            &der(0x31, &[&signer]),
        ],
    );
    der(0x30, &[&oid(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 2]), &der(0xa0, &[&data])])
}
