//! `launchway-server doctor`: the operator sees what a step of the trial finds on this machine.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use launchway_runner::WorkDirectory;
use launchway_runner::executor::ProcessExecutor;
use launchway_runner::settings::Settings;

const PROGRAM: &str = env!("CARGO_BIN_EXE_launchway-server");

#[tokio::test]
async fn doctor_names_everything_that_is_open_to_builds() {
    let directory = tempfile::tempdir().unwrap();
    // Build users can traverse it.
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o711)).unwrap();
    let mut command = Command::new(PROGRAM);
    command.arg("doctor").env("LAUNCHWAY_DATA_DIR", directory.path().join("data"));
    command.env("LAUNCHWAY_RUNNER_OPEN_PORTS", "3128");
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    let mut settings = Settings::new(std::env::temp_dir());
    settings.sandbox.open_ports = vec![3128];
    let executor = Arc::new(ProcessExecutor::through(PathBuf::from(PROGRAM)));
    let sandbox = WorkDirectory::inspect(settings, executor).await.unwrap();
    assert!(told.starts_with(&format!("{}\n", sandbox.sentence())), "{told}");
    let openings = sandbox.openings();
    assert!(openings.iter().any(|opening| opening.what.ends_with("--open-port: 3128")), "{openings:?}");
    for opening in openings {
        let line = match opening.remedy {
            Some(remedy) => format!("warning  {}\n         → {remedy}\n", opening.what),
            None => format!("open     {}\n", opening.what),
        };
        assert!(told.contains(&line), "{line}{told}");
    }
    // Nothing is left behind, and no database was created.
    assert!(!directory.path().join("data/launchway.db").exists());
}
