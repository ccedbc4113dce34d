//! Labels that a machine gets automatically: operating system, processor, what this release can do, and the major versions of tools.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use launchway_domain::build::git::DIRECTORY_LABEL;
use tokio::process::Command;
use tokio::time::timeout;

/// How long a tool may take to print its version.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A tool, its arguments, and the label for its version.
const TOOLS: [(&str, &str, &str); 3] = [
    ("xcodebuild", "-version", "xcode"),
    ("java", "-version", "java"),
    ("node", "--version", "node"),
];

/// The labels of this machine, such as `os=linux`, `arch=x86_64`, `java=17`; tools are searched on `path`. A tool that
/// does not print its version in time is omitted.
pub async fn detect(path: &str) -> Vec<String> {
    let mut labels = vec![
        format!("os={}", std::env::consts::OS),
        format!("arch={}", std::env::consts::ARCH),
        DIRECTORY_LABEL.to_owned(),
    ];
    for (tool, argument, label) in TOOLS {
        if let Some(major) = version_of(tool, argument, path).await {
            labels.push(format!("{label}={major}"));
        }
    }
    labels
}

async fn version_of(tool: &str, argument: &str, path: &str) -> Option<u32> {
    let program = path
        .split(':')
        .map(|place| Path::new(place).join(tool))
        .find(|file| file.is_file())?;
    let mut command = Command::new(program);
    command.arg(argument).env_clear().env("PATH", path);
    command.stdin(Stdio::null()).kill_on_drop(true);
    let output = timeout(TIMEOUT, command.output()).await.ok()?.ok()?;
    // Java prints its version on standard error.
    let said = [output.stdout, output.stderr].concat();
    output
        .status
        .success()
        .then(|| major(&String::from_utf8_lossy(&said)))?
}

/// The major version in the output of a tool. Java before 9 calls itself 1.x.
fn major(said: &str) -> Option<u32> {
    let first_digit = said.find(|letter: char| letter.is_ascii_digit())?;
    let mut numbers = said[first_digit..]
        .split(|letter: char| !letter.is_ascii_digit())
        .map(str::parse);
    match numbers.next()?.ok()? {
        1 => numbers.next()?.ok(),
        major => Some(major),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_tools_say() {
        let rows = [
            ("v22.14.0\n", Some(22)),
            ("Xcode 26.1\nBuild version 17B55\n", Some(26)),
            ("openjdk version \"17.0.15\" 2025-04-15\n", Some(17)),
            ("java version \"1.8.0_392\"\n", Some(8)),
            ("openjdk version \"21\" 2023-09-19\n", Some(21)),
            ("no version", None),
            ("", None),
            ("v99999999999999999999", None),
        ];
        for (said, expected) in rows {
            assert_eq!(major(said), expected, "{said}");
        }
    }

    #[tokio::test]
    async fn says_at_least_what_the_machine_is() {
        let labels = detect("/nowhere").await;
        assert_eq!(labels.len(), 3);
        assert!(
            labels
                .iter()
                .all(|label| launchway_domain::build::plan::is_label(label))
        );
    }

    #[tokio::test]
    async fn a_tool_on_the_path_is_found_and_a_broken_one_left_out() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        for (name, script) in [
            ("node", "#!/bin/sh\necho v20.1.2\n"),
            ("java", "#!/bin/sh\necho 17; exit 1\n"),
        ] {
            // The shell writes the file: if this process had it open for writing, executing it could fail with "text
            // file busy".
            let file = directory.path().join(name);
            let made = std::process::Command::new("/bin/sh")
                .args(["-c", "printf %s \"$1\" > \"$2\"", "sh", script])
                .arg(&file)
                .status();
            assert!(made.unwrap().success());
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let labels = detect(directory.path().to_str().unwrap()).await;
        assert_eq!(labels[3..], ["node=20".to_owned()]);
    }
}
