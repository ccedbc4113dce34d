//! The time that a large project takes.

use std::time::Instant;

use launchway_domain::platform::Platform;

use crate::npm::Project;

#[test]
#[ignore = "long run"]
fn a_hundred_thousand_files() {
    let project = Project::new();
    project.write("settings.gradle", "include ':app'");
    for folder in 0..1000 {
        for file in 0..100 {
            let path = format!("app/src/main/java/p{folder}/C{file}.java");
            project.write(&path, format!("class C{file} {{ int p = {folder}; }}\n"));
        }
    }
    let begin = Instant::now();
    let document = project.document(Platform::Android);
    println!("summary: 100,000 files: {:.1} s", begin.elapsed().as_secs_f64());
    assert_eq!(project.document(Platform::Android), document);
}
