//! Where the fingerprint is written, and that writing it twice changes nothing.

use launchway_domain::fingerprint::Fingerprint as Hash;

use super::embed::{EmbedError, Embedded, embed};
use super::*;

fn hash(text: &str) -> Hash {
    Hash::parse(text).unwrap()
}

fn embedded(project: &Project, platform: Platform, text: &str) -> Result<Vec<Embedded>, EmbedError> {
    let framework = framework(&project.root(), platform).unwrap();
    embed(&project.root(), framework, platform, &hash(text))
}

#[test]
fn each_framework_has_its_place() {
    let rows: [(Make, Platform, &str); 8] = [
        (
            capacitor,
            Platform::Android,
            "android/app/src/main/res/values/launchway_fingerprint.xml",
        ),
        (capacitor, Platform::Ios, "ios/App/App/Info.plist"),
        (
            nativescript,
            Platform::Android,
            "App_Resources/Android/src/main/res/values/launchway_fingerprint.xml",
        ),
        (nativescript, Platform::Ios, "App_Resources/iOS/Info.plist"),
        (nativescript, Platform::Visionos, "App_Resources/iOS/Info.plist"),
        (react_native, Platform::Ios, "ios/App/Info.plist"),
        (flutter, Platform::Ios, "ios/Runner/Info.plist"),
        (
            flutter,
            Platform::Android,
            "android/app/src/main/res/values/launchway_fingerprint.xml",
        ),
    ];
    for (make, platform, path) in rows {
        let project = make();
        let outcome = |changed| {
            vec![Embedded {
                path: path.to_owned(),
                changed,
            }]
        };
        let read = || fs::read_to_string(project.root().join(path)).unwrap();
        assert_eq!(embedded(&project, platform, "first").unwrap(), outcome(true));
        assert_eq!(embedded(&project, platform, "first").unwrap(), outcome(false), "{path}");
        assert!(read().contains(">first<"), "{}", read());
        assert_eq!(embedded(&project, platform, "a<&$1").unwrap(), outcome(true));
        assert!(
            read().contains(">a&lt;&amp;$1<") && !read().contains("first"),
            "{}",
            read()
        );
    }
}

#[test]
fn a_property_list_keeps_everything_else() {
    for text in [
        PLIST.to_owned(),
        PLIST.replace('\n', "\r\n"),
        PLIST.replace(['\n', '\t'], ""),
    ] {
        let project = capacitor();
        let path = "ios/App/App/Info.plist";
        project.write(path, &text);
        let before = project.document(Platform::Ios);
        embedded(&project, Platform::Ios, "abc").unwrap();
        let written = fs::read_to_string(project.root().join(path)).unwrap();
        let list = plist::Value::from_reader(std::io::Cursor::new(&written)).expect("a property list");
        let list = list.as_dictionary().expect("a dictionary");
        assert_eq!(
            list.get("LaunchwayFingerprint").and_then(plist::Value::as_string),
            Some("abc")
        );
        assert_eq!(list.get("CFBundleVersion").and_then(plist::Value::as_string), Some("1"));
        assert_eq!(list.len(), 3);
        assert_eq!(project.document(Platform::Ios), before);
    }
}

#[test]
fn what_cannot_be_written_into_is_named() {
    let project = expo();
    let message = |error: EmbedError| error.to_string();
    assert_eq!(
        embedded(&project, Platform::Android, "a").map_err(message),
        Err(
            "app/src/main does not exist, so there is nothing to write into; create the native project first"
                .to_owned()
        )
    );
    let project = capacitor();
    project.write("ios/App/App/Info.plist", "bplist00 and so on");
    assert_eq!(
        embedded(&project, Platform::Ios, "a").map_err(message),
        Err(
            "ios/App/App/Info.plist is not an XML property list; run `plutil -convert xml1 ios/App/App/Info.plist` \
             to convert it"
                .to_owned()
        )
    );
}

#[cfg(unix)]
#[test]
fn nothing_outside_is_written() {
    use std::os::unix::fs::symlink;

    let project = capacitor();
    let outside = project.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::remove_dir_all(project.root().join("android/app/src/main/res")).unwrap();
    symlink(&outside, project.root().join("android/app/src/main/res")).unwrap();
    assert!(embedded(&project, Platform::Android, "a").is_err());
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);

    let project = capacitor();
    let plist = project.root().join("ios/App/App/Info.plist");
    let outside = project.folder.path().join("Info.plist");
    fs::rename(&plist, &outside).unwrap();
    symlink(&outside, &plist).unwrap();
    assert!(embedded(&project, Platform::Ios, "a").is_err());
    assert_eq!(fs::read_to_string(outside).unwrap(), PLIST);
}
