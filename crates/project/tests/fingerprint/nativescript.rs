//! The template of NativeScript with its camera plugin.

use std::fs;

use launchway_domain::platform::Platform;

use crate::npm::{Project, changes};

/// The template lacks this; NativeScript's command line writes it when it creates a project.
const CONFIG: &str = "\
import { NativeScriptConfig } from '@nativescript/core';

export default {
  id: 'com.example.app',
  appPath: 'app',
  appResourcesPath: 'App_Resources',
  android: { markingMode: 'none' },
} as NativeScriptConfig;
";

#[test]
#[ignore = "long run"]
fn it_stays_and_changes_with_the_native_side() {
    let mut project = Project::unpack("@nativescript/template-hello-world-ts@9.1.1", "");
    project.write("nativescript.config.ts", CONFIG);
    project.install(&[
        "@nativescript/android@9.1.1",
        "@nativescript/ios@9.0.3",
        "@nativescript/camera@7.0.0",
    ]);
    let before = project.documents();
    let names: Vec<_> = before[0].plugins().keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "@nativescript-community/perms",
            "@nativescript/android",
            "@nativescript/camera",
            "@nativescript/core"
        ]
    );
    project.hold_still(&["App_Resources"]);
    let [android, ios] = &before;
    project.patch(android, "@nativescript/camera", "7.0.0");
    let more = "App_Resources/Android/src/main/res/values/more.xml";
    project.write(more, "<resources/>");
    assert_eq!(project.changed(android), ["App resources changed"]);
    assert_eq!(project.document(Platform::Ios), *ios);
    fs::remove_file(project.root().join(more)).unwrap();

    // The configuration names native source.
    let android_block = "android: { ";
    let source = "NativeSource: [{ name: 'A', path: './native/A.java' }], ";
    let named = CONFIG.replace(android_block, &format!("{android_block}{source}"));
    project.write("nativescript.config.ts", named);
    project.write("native/A.java", "class A {}");
    let with_source = project.document(Platform::Android);
    project.write("native/A.java", "class B {}");
    assert_eq!(
        changes(&with_source, &project.document(Platform::Android)),
        ["Native source changed"]
    );
    project.write("nativescript.config.ts", CONFIG);
    assert_eq!(project.documents(), before);

    project.install(&["@nativescript/android@9.1.0"]);
    let runtime = "Native plugin version changed: @nativescript/android 9.1.1 -> 9.1.0";
    assert_eq!(project.changed(android), [runtime]);
    project.install(&["@nativescript/camera@5.1.1"]);
    let camera = "Native plugin version changed: @nativescript/camera 7.0.0 -> 5.1.1";
    assert!(project.changed(android).iter().any(|change| change == camera));
    println!("summary: NativeScript's template: {} plugins", names.len());
}
