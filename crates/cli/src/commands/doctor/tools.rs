//! Checks that the tools that build the project are installed here. A runner has its own tools, so that a missing one
//! is a warning. Nothing is executed.

use std::path::Path;

use launchway_project::framework::Framework;

use super::Finding;
use crate::environment::Environment;

/// A program and how to install it.
struct Tool {
    program: &'static str,
    what_for: &'static str,
    fix: &'static str,
}

const GIT: Tool = Tool {
    program: "git",
    what_for: "to record the commit of a build",
    fix: "install git",
};
const NODE: Tool = Tool {
    program: "node",
    what_for: "to build the JavaScript code",
    fix: "install Node.js 20 or newer",
};
const JAVA: Tool = Tool {
    program: "java",
    what_for: "to build for Android",
    fix: "install a JDK, 17 or newer",
};
const FLUTTER: Tool = Tool {
    program: "flutter",
    what_for: "to build",
    fix: "install Flutter and put its bin directory on PATH",
};
const XCODE: Tool = Tool {
    program: "xcodebuild",
    what_for: "to build for iOS",
    fix: "install Xcode, and open it once",
};

/// Checks the tools that the framework needs.
pub fn look(framework: Framework, environment: &Environment, findings: &mut Vec<Finding>) {
    let for_android = framework != Framework::Xcode;
    let needed: &[Tool] = match framework {
        Framework::NativeScript | Framework::Capacitor | Framework::Expo | Framework::ReactNative => &[GIT, NODE, JAVA],
        Framework::Flutter => &[GIT, FLUTTER, JAVA],
        Framework::Gradle => &[GIT, JAVA],
        Framework::Xcode => &[GIT],
    };
    findings.extend(needed.iter().map(|tool| tool.look(environment)));
    if for_android {
        findings.push(android_sdk(environment));
    }
    if cfg!(target_os = "macos") && framework != Framework::Gradle {
        findings.push(XCODE.look(environment));
    }
}

impl Tool {
    fn look(&self, environment: &Environment) -> Finding {
        let Tool { program, what_for, fix } = self;
        let path = environment.path("PATH").unwrap_or_default();
        let file = format!("{program}{}", std::env::consts::EXE_SUFFIX);
        let found = std::env::split_paths(&path)
            .map(|directory| directory.join(&file))
            .find(|place| is_program(place));
        match found {
            Some(place) => Finding::ok("tools", format!("{program} is {}", place.display())),
            None => Finding::warning(
                "tools",
                format!("{program} is not on PATH; this project needs it {what_for}"),
                *fix,
            ),
        }
    }
}

fn android_sdk(environment: &Environment) -> Finding {
    let override_path = environment
        .path("ANDROID_HOME")
        .or_else(|| environment.path("ANDROID_SDK_ROOT"));
    let fix = "install the Android SDK, and set ANDROID_HOME to its directory";
    match override_path {
        Some(place) if place.is_dir() => Finding::ok("tools", format!("the Android SDK is {}", place.display())),
        Some(place) => Finding::warning("tools", format!("no Android SDK in {}", place.display()), fix),
        None => Finding::warning(
            "tools",
            "ANDROID_HOME is not set; this project needs it to build for Android",
            fix,
        ),
    }
}

#[cfg(unix)]
fn is_program(place: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(place).is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(place: &Path) -> bool {
    place.is_file()
}
