//! Checks have a larger share of a busy processor than everything else that the server does.

use std::collections::BTreeMap;
use std::time::Duration;
use std::{fs, thread};

use launchway_testing::server_process::ServerProcess;
use launchway_testing::wait::until;
use rustix::process::{Pid, getpriority_process, setpriority_process};

const LIMIT: Duration = Duration::from_secs(20);

/// The nice value of each thread of a process, by the thread's name.
fn nice_values(process: u32) -> BTreeMap<String, Vec<i32>> {
    let mut values: BTreeMap<String, Vec<i32>> = BTreeMap::new();
    for thread in fs::read_dir(format!("/proc/{process}/task")).unwrap() {
        let thread = thread.unwrap();
        // A thread may end meanwhile.
        let Ok(name) = fs::read_to_string(thread.path().join("comm")) else {
            continue;
        };
        let id = thread.file_name().to_str().unwrap().parse().unwrap();
        if let Ok(nice) = getpriority_process(Pid::from_raw(id)) {
            values.entry(name.trim().to_owned()).or_default().push(nice);
        }
    }
    values
}

#[tokio::test]
async fn threads_for_checks_have_a_higher_priority() {
    let server = ServerProcess::start();
    let own = getpriority_process(None).unwrap();
    let is_allowed = thread::spawn(move || setpriority_process(None, own - 5).is_ok());
    let raised = if is_allowed.join().unwrap() { own - 5 } else { own };
    let process = server.id().unwrap();
    // A thread raises itself when it begins.
    let values = until(LIMIT, "raised threads for checks", async || {
        let values = nice_values(process);
        let checks = values.get("checks")?;
        checks.iter().all(|nice| *nice == raised).then_some(values)
    });
    for (name, values) in values.await.0 {
        let expected = if name == "checks" { raised } else { own };
        assert!(values.iter().all(|nice| *nice == expected), "{name}: {values:?}");
    }
}
