//! The template of NativeScript with its camera.

use launchway_domain::platform::Platform;

use crate::npm::{Project, changes};

#[test]
#[ignore = "long run"]
fn it_stays_and_changes_with_the_native_side() {
    let mut project = Project::unpack("@nativescript/template-hello-world-ts@9.1.1", "");
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
    project.moved();
    project.disturb(&["App_Resources"]);
    for (platform, document) in [Platform::Android, Platform::Ios].into_iter().zip(&before) {
        project.embed(platform, &document.hash());
    }
    assert_eq!(project.documents(), before);

    project.write("App_Resources/Android/src/main/res/values/more.xml", "<resources/>");
    assert_eq!(
        changes(&before[0], &project.document(Platform::Android)),
        ["App resources changed"]
    );
    assert_eq!(project.document(Platform::Ios), before[1]);
    project.install(&["@nativescript/camera@5.1.1"]);
    let camera = "Native plugin version changed: @nativescript/camera 7.0.0 -> 5.1.1";
    assert!(
        changes(&before[1], &project.document(Platform::Ios))
            .iter()
            .any(|change| change == camera)
    );
    println!("summary: NativeScript's template: {} plugins", names.len());
}
