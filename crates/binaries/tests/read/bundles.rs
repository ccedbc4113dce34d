//! Extensions inside an app, entitlements, and every slice of a fat executable.

use launchway_binaries::{BinaryFacts, Entitlements};

use crate::fixture::{fixture, packed, read_bytes, unpacked};

const APP: &str = "Payload/Example.app/";
const ARM64: [u32; 2] = [0x100_000c, 0];
const ARMV7: [u32; 2] = [12, 9];
const X86_64: [u32; 2] = [0x100_0007, 3];

/// The signed data of the fixture's executable.
fn signed_data() -> Vec<u8> {
    let files = unpacked(&fixture("binary.ipa"));
    let executable = &files.iter().find(|(name, _)| name.ends_with("/Example")).unwrap().1;
    let mark = 0xfade_0b01_u32.to_be_bytes();
    let at = executable.windows(4).position(|bytes| bytes == mark).unwrap();
    let length = u32::from_be_bytes(executable[at + 4..at + 8].try_into().unwrap());
    executable[at + 8..at + usize::try_from(length).unwrap()].to_vec()
}

fn blob(mark: u32, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(8 + content.len()).unwrap();
    [&mark.to_be_bytes()[..], &length.to_be_bytes(), content].concat()
}

/// A thin executable of 64 bits, with these parts in its code signature.
fn executable(processor: [u32; 2], signed: Option<&[u8]>, entitlements: Option<&str>) -> Vec<u8> {
    let mut parts = Vec::new();
    parts.extend(entitlements.map(|list| (5_u32, blob(0xfade_7171, list.as_bytes()))));
    parts.extend(signed.map(|signed| (0x1_0000, blob(0xfade_0b01, signed))));
    let count = u32::try_from(parts.len()).unwrap();
    let (mut index, mut content) = (count.to_be_bytes().to_vec(), Vec::new());
    for (slot, part) in &parts {
        let at = u32::try_from(12 + 8 * parts.len() + content.len()).unwrap();
        index.extend([slot.to_be_bytes(), at.to_be_bytes()].concat());
        content.extend_from_slice(part);
    }
    let signature = blob(0xfade_0cc0, &[index, content].concat());
    let length = u32::try_from(signature.len()).unwrap();
    let command = [0x1d, 16, 4096, length].map(u32::to_le_bytes).concat();
    let header = [0xfeed_facf, processor[0], processor[1], 2, 1, 16, 0x80, 0]
        .map(u32::to_le_bytes)
        .concat();
    let mut whole = [header, command].concat();
    whole.resize(4096, 0);
    [whole, signature].concat()
}

/// A fat file, whose table has another order than the file.
fn fat(slices: &[([u32; 2], Vec<u8>)]) -> Vec<u8> {
    let (mut table, mut body) = (Vec::new(), Vec::new());
    for (processor, slice) in slices {
        let place = [4096 + body.len(), slice.len()].map(|number| u32::try_from(number).unwrap());
        let entry = [processor[0], processor[1], place[0], place[1], 14];
        table.insert(0, entry.map(u32::to_be_bytes).concat());
        body.extend_from_slice(slice);
        body.resize(body.len().next_multiple_of(4096), 0);
    }
    let count = u32::try_from(slices.len()).unwrap();
    let mut head = [0xcafe_babe_u32.to_be_bytes(), count.to_be_bytes()].concat();
    head.extend(table.concat());
    head.resize(4096, 0);
    [head, body].concat()
}

/// The fixture's app with these files added or replaced.
fn app(files: &[(&str, Vec<u8>)]) -> BinaryFacts {
    let mut all = unpacked(&fixture("binary.ipa"));
    for (name, content) in files {
        let name = format!("{APP}{name}");
        all.retain(|(known, _)| *known != name);
        all.push((name, content.clone()));
    }
    read_bytes(&packed(&all)).unwrap()
}

fn entitlements(bundle_id: &str, more: &str) -> String {
    format!(
        "<plist version=\"1.0\"><dict><key>application-identifier</key><string>ABCDE12345.{bundle_id}</string>\
         {more}</dict></plist>"
    )
}

fn info(bundle_id: &str) -> Vec<u8> {
    format!(
        "<?xml version=\"1.0\"?><plist version=\"1.0\"><dict><key>CFBundleIdentifier</key><string>{bundle_id}\
         </string><key>CFBundleExecutable</key><string>Code</string></dict></plist>"
    )
    .into_bytes()
}

#[test]
fn all_slices_of_a_fat_executable_count() {
    let signed = signed_data();
    let good = |processor| (processor, executable(processor, Some(&signed), None));
    let facts = app(&[("Example", fat(&[good(ARM64), good(ARMV7)]))]);
    assert_eq!(
        facts.architectures.as_deref(),
        Some(&["armv7".to_owned(), "arm64".to_owned()][..])
    );
    assert!(facts.signer.is_some() && facts.warnings.is_empty(), "{facts:?}");
    // One slice is not signed.
    let facts = app(&[("Example", fat(&[good(ARM64), (ARMV7, executable(ARMV7, None, None))]))]);
    assert_eq!((facts.signer, facts.warnings), (None, Vec::new()));
    // One slice may be debugged.
    let debuggable = entitlements("com.example.app", "<key>get-task-allow</key><true/>");
    let second = (ARMV7, executable(ARMV7, Some(&signed), Some(&debuggable)));
    assert_eq!(app(&[("Example", fat(&[good(ARM64), second]))]).debuggable, Some(true));
    // A slice that cannot be read, and slices that overlap.
    let facts = app(&[("Example", fat(&[good(ARM64), (ARMV7, vec![1; 64])]))]);
    assert_eq!(
        (facts.signer, facts.system_classes, facts.warnings.len()),
        (None, None, 1)
    );
    let mut overlapping = fat(&[good(ARM64), good(ARMV7)]);
    overlapping.copy_within(16..20, 36);
    assert_eq!(app(&[("Example", overlapping)]).warnings.len(), 1);
}

#[test]
fn entitlements_are_compared_with_the_profile() {
    let signed = signed_data();
    let more = "<key>aps-environment</key><string>production</string><key>com.apple.developer.siri</key><true/>\
                <key>keychain-access-groups</key><array/>";
    let list = entitlements("com.example.app", more);
    let facts = app(&[("Example", executable(ARM64, Some(&signed), Some(&list)))]);
    let wanted = Entitlements {
        application_id: Some("ABCDE12345.com.example.app".to_owned()),
        debuggable: false,
        not_granted: ["aps-environment", "com.apple.developer.siri"]
            .map(str::to_owned)
            .to_vec(),
    };
    assert_eq!((facts.entitlements, facts.debuggable), (Some(wanted), Some(false)));
    // Without a list nothing is known, and a broken one is a warning.
    let facts = app(&[("Example", executable(ARM64, Some(&signed), None))]);
    assert_eq!((facts.entitlements, facts.debuggable), (None, None));
    let facts = app(&[("Example", executable(ARM64, Some(&signed), Some("<plist>")))]);
    assert_eq!((facts.entitlements, facts.warnings.len()), (None, 1));
}

#[test]
fn extensions_have_facts_of_their_own() {
    let (signed, profile) = (signed_data(), unpacked(&fixture("binary.ipa")));
    let profile = &profile
        .iter()
        .find(|(name, _)| name.ends_with(".mobileprovision"))
        .unwrap()
        .1;
    let list = entitlements("com.example.app.share", "");
    let facts = app(&[
        ("PlugIns/Share.appex/Info.plist", info("com.example.app.share")),
        (
            "PlugIns/Share.appex/Code",
            executable(ARM64, Some(&signed), Some(&list)),
        ),
        ("PlugIns/Share.appex/embedded.mobileprovision", profile.clone()),
        ("Watch/Wrist.app/Info.plist", info("com.example.app.watchkitapp")),
        (
            "Watch/Wrist.app/PlugIns/Face.appex/Info.plist",
            info("com.example.app.watchkitapp.face"),
        ),
        (
            "Watch/Wrist.app/PlugIns/Face.appex/Code",
            executable(X86_64, None, None),
        ),
        ("AppClips/Clip.app/Info.plist", b"broken".to_vec()),
        (
            "PlugIns/Share.appex/PlugIns/A.appex/PlugIns/B.appex/Info.plist",
            info("too.deep"),
        ),
        ("Other/Share.appex/Info.plist", info("elsewhere")),
    ]);
    let paths: Vec<_> = facts
        .extensions
        .iter()
        .map(|extension| extension.path.as_str())
        .collect();
    assert_eq!(
        paths,
        [
            "PlugIns/Share.appex",
            "Watch/Wrist.app",
            "Watch/Wrist.app/PlugIns/Face.appex",
            "AppClips/Clip.app"
        ]
    );
    let [share, watch, face, clip] = &facts.extensions[..] else {
        unreachable!()
    };
    assert_eq!(share.bundle_id.as_deref(), Some("com.example.app.share"));
    assert_eq!(
        (share.signed, share.architectures.as_deref()),
        (Some(true), Some(&["arm64".to_owned()][..]))
    );
    assert_eq!(share.profile, facts.profile);
    let id = share
        .entitlements
        .as_ref()
        .and_then(|entitlements| entitlements.application_id.as_deref());
    assert_eq!(id, Some("ABCDE12345.com.example.app.share"));
    assert_eq!(
        (watch.signed, &watch.architectures, &watch.profile),
        (None, &None, &None)
    );
    assert_eq!(
        (face.signed, face.architectures.as_deref()),
        (Some(false), Some(&["x86_64".to_owned()][..]))
    );
    assert_eq!((&clip.bundle_id, clip.signed), (&None, None));
    assert!(facts.warnings.is_empty(), "{:?}", facts.warnings);
}

#[test]
fn libraries_with_code_for_simulators_are_named() {
    let library = "Frameworks/Other.framework/Other";
    let both = fat(&[
        (ARM64, executable(ARM64, None, None)),
        (X86_64, executable(X86_64, None, None)),
    ]);
    assert_eq!(app(&[(library, both)]).simulator_code, [library]);
    assert_eq!(
        app(&[(library, executable(ARM64, None, None))]).simulator_code,
        Vec::<String>::new()
    );
}
