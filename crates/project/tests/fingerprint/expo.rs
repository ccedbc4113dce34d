//! The bare template of Expo, compared with Expo's own fingerprint.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::npm::Project;

#[test]
#[ignore = "long run"]
fn the_native_packages_are_those_of_expos_own_fingerprint() {
    let mut project = Project::unpack("expo-template-bare-minimum@54.0.54", "");
    project.install(&[]);
    project.install(&[
        "expo-camera@17.0.10",
        "react-native-screens@4.16.0",
        "@expo/fingerprint@0.15.5",
    ]);
    let before = project.documents();
    let printed = project.run("npx", &["fingerprint", "fingerprint:generate"]);
    let theirs: Value = serde_json::from_str(&printed).unwrap();
    for (document, platform) in before.iter().zip(["Android", "Ios"]) {
        let linked: BTreeSet<String> = theirs["sources"]
            .as_array()
            .expect("a list")
            .iter()
            .filter(|source| {
                let reasons = source["reasons"].as_array().into_iter().flatten();
                let mut reasons = reasons.filter_map(Value::as_str);
                reasons.any(|reason| reason.contains("Autolinking") && reason.ends_with(platform))
            })
            .filter_map(|source| package_of(source["filePath"].as_str()?))
            .collect();
        let own: BTreeSet<String> = document
            .plugins()
            .keys()
            .filter(|name| *name != "react-native")
            .cloned()
            .collect();
        assert!(linked.len() > 2, "{linked:?}");
        // On iOS, modules in the directory of another package are named after that package.
        let missing: Vec<_> = linked.difference(&own).collect();
        assert!(missing.is_empty(), "{platform}: {missing:?}");
        let ours_alone = own
            .difference(&linked)
            .filter(|name| !is_below_expo(&project, name))
            .count();
        assert_eq!(ours_alone, 0, "{platform}: {own:?} and {linked:?}");
        println!("summary: Expo's fingerprint for {platform} agrees: {own:?}");
    }
    project.hold_still(&["android", "ios"]);
    let android = &before[0];
    project.patch(android, "react-native-screens", "4.16.0");
    let values = "android/app/src/main/res/values/strings.xml";
    project.edit(android, values, "App resources changed");
    project.edit(android, "android/build.gradle", "Native source changed");
    project.install(&["expo-camera@17.0.9"]);
    let upgraded = "Native plugin version changed: expo-camera 17.0.10 -> 17.0.9";
    assert_eq!(project.changed(android), [upgraded]);
    project.replace("app.json", "\"slug\": \"expo-template-bare\"", "\"slug\": \"other\"");
    assert_eq!(project.changed(android), [upgraded, "Native source changed"]);
}

/// The name of the package that contains a path: the part behind the last `node_modules`.
fn package_of(path: &str) -> Option<String> {
    let (_, inner) = path.rsplit_once("node_modules/")?;
    let mut parts = inner.split('/');
    let first = parts.next()?;
    match first.starts_with('@') {
        true => Some(format!("{first}/{}", parts.next()?)),
        false => Some(first.to_owned()),
    }
}

fn is_below_expo(project: &Project, name: &str) -> bool {
    project
        .root()
        .join("node_modules/expo/node_modules")
        .join(name)
        .is_dir()
}
