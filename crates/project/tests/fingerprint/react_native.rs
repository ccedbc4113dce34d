//! The template of React Native, compared with its own autolinking.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::npm::Project;

#[test]
#[ignore = "long run"]
fn the_plugins_are_those_of_its_autolinking() {
    let mut project = Project::unpack("@react-native-community/template@0.85.3", "template");
    for name in ["_bundle", "_gitignore", "_watchmanconfig"] {
        let from = project.root().join(name);
        if from.exists() {
            fs::rename(&from, project.root().join(name.replacen('_', ".", 1))).unwrap();
        }
    }
    project.install(&[]);
    project.install(&[
        "react-native-device-info@15.0.2",
        "@react-native-async-storage/async-storage@3.1.1",
        "react-native-screens@4.30.1",
    ]);
    let before = project.documents();
    let config: Value = serde_json::from_str(&project.run("npx", &["react-native", "config"])).unwrap();
    let mut compared = 0;
    for (document, platform) in before.iter().zip(["android", "ios"]) {
        let dependencies = config["dependencies"].as_object().expect("a list").iter();
        let linked: BTreeSet<&str> = dependencies
            .filter(|(_, dependency)| dependency["platforms"][platform].is_object())
            .map(|(name, _)| name.as_str())
            .collect();
        let own: BTreeSet<&str> = document.plugins().keys().map(String::as_str).collect();
        let own: BTreeSet<&str> = own.into_iter().filter(|name| *name != "react-native").collect();
        assert!(!linked.is_empty());
        assert_eq!(own, linked, "{platform}");
        compared += own.len();
    }
    project.hold_still(&["android", "ios"]);
    let android = &before[0];
    project.patch(android, "react-native-screens", "4.30.1");
    let values = "android/app/src/main/res/values/strings.xml";
    project.edit(android, values, "App resources changed");
    project.edit(android, "android/build.gradle", "Native source changed");
    project.install(&["react-native-device-info@15.0.1"]);
    let upgraded = "Native plugin version changed: react-native-device-info 15.0.2 -> 15.0.1";
    assert_eq!(project.changed(android), [upgraded]);
    project.install(&["react-native@0.85.2"]);
    let runtime = "Native plugin version changed: react-native 0.85.3 -> 0.85.2";
    assert_eq!(project.changed(android), [runtime, upgraded]);
    println!("summary: React Native's autolinking agrees on {compared} plugins");
}
