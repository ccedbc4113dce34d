//! Measures the checks of other services' clients beside our own, on one server and in interleaved rounds.

use std::io::Write;
use std::net::SocketAddr;
use std::rc::Rc;

use launchway_domain::release::Protocol;

use crate::args::ForeignArgs;
use crate::bundles::CONFIGURATION;
use crate::contestant::{self, Contestant};
use crate::cores::Cores;
use crate::figures::Goal;
use crate::questions::Question;
use crate::releases::{DEPLOYMENT_KEY, PLATFORM, PROTOCOLS, RELEASES, RUNTIME, app, package_hash, uuid};
use crate::server::Server;
use crate::{programs, releases};

/// The processor time of another protocol's check is at most so many times that of ours.
const GOAL: f64 = 1.3;
/// The same for Expo, whose answers are whole manifests.
const EXPO_GOAL: f64 = 1.5;

/// A device that asks: with an id or without, and the release that it runs; `None` is the built-in content.
struct Device {
    id: Option<String>,
    runs: Option<u32>,
}

/// What a device is told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    Update,
    Nothing,
}

/// Measures and prints.
///
/// # Errors
/// When the server does not start or returns a wrong response.
pub fn run(args: &ForeignArgs) -> anyhow::Result<()> {
    let program = programs::server(args.server.as_deref())?;
    let cores = Cores::find()?;
    let data = tempfile::tempdir()?;
    releases::fill(data.path(), args.apps)?;
    let mut command = programs::serve(&program, data.path());
    command.arg("--no-runner");
    let server = Rc::new(cores.on_server_core(|| Server::start(command))??);
    // Runs only on this thread, which is pinned to the core of the load.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let contestant = |name, protocol| {
        let questions = questions(server.address, args.apps, protocol);
        Contestant::new(name, &server, questions, cores.are_two(), args.connections)
    };
    let mut all = vec![contestant("our check", None), contestant("our check again", None)];
    all.extend(PROTOCOLS.map(|protocol| contestant(name(protocol), Some(protocol))));
    for peer in &args.peer {
        let server = Rc::new(peer.server(cores)?);
        let questions = peer.questions();
        all.push(Contestant::new(
            peer.name.clone(),
            &server,
            questions,
            cores.are_two(),
            args.connections,
        ));
    }
    let mut out = std::io::stdout();
    writeln!(
        out,
        "{} apps of each protocol with {RELEASES} releases, {} connections, {} rounds of {} requests; medians:",
        args.apps, args.connections, args.rounds, args.requests
    )?;
    let bytes: Vec<_> = all
        .iter()
        .map(|asked| asked.body_bytes(&runtime))
        .collect::<Result<_, _>>()?;
    contestant::take_turns(&mut all, &runtime, args.rounds, args.requests)?;
    writeln!(out, "{}{:>10}", contestant::head(), "body")?;
    for (asked, bytes) in all.iter().zip(bytes) {
        writeln!(out, "{}{bytes:>8} B", asked.line())?;
    }
    writeln!(out, "CPU beside our check, round by round, min – median – max:")?;
    let noise = all[1].cpu_ratio(&all[0]);
    writeln!(out, "  {:<22}{noise:.3}   (the noise)", "our check again")?;
    for (asked, protocol) in all[2..].iter().zip(PROTOCOLS) {
        let ratio = asked.cpu_ratio(&all[0]);
        let goal = Goal::AtMost(if protocol == Protocol::Expo { EXPO_GOAL } else { GOAL });
        writeln!(
            out,
            "  {:<22}{ratio:.3}   {}",
            name(protocol),
            goal.verdict(ratio.median)
        )?;
    }
    for (asked, peer) in all[2 + PROTOCOLS.len()..].iter().zip(&args.peer) {
        writeln!(out, "  {:<22}{:.3}", peer.name, asked.cpu_ratio(&all[0]))?;
    }
    Ok(())
}

fn name(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Codepush => "CodePush",
        Protocol::Expo => "Expo Updates",
        Protocol::Capgo => "Capgo",
        Protocol::HotUpdater => "hot-updater",
    }
}

/// Three questions of each app: of a new device without an id, of one with an id, and of one that runs the newest release. Our own check
/// is asked for the apps of Capgo, whose updates are its own, too.
fn questions(address: SocketAddr, apps: u32, protocol: Option<Protocol>) -> Vec<Question> {
    let mut all = Vec::with_capacity(apps as usize * 3);
    for number in 0..apps {
        let id = format!("2f9c6d1e-7b0a-4a63-9f51-{number:012x}");
        let devices = [
            (Device { id: None, runs: None }, Told::Update),
            (
                Device {
                    id: Some(id.clone()),
                    runs: None,
                },
                Told::Update,
            ),
            (
                Device {
                    id: Some(id),
                    runs: Some(RELEASES),
                },
                Told::Nothing,
            ),
        ];
        for (device, told) in devices {
            all.push(match protocol {
                None => own(address, number, &device, told),
                Some(Protocol::Codepush) => codepush(address, number, &device, told),
                Some(Protocol::Expo) => expo(address, number, &device, told),
                Some(Protocol::Capgo) => capgo(address, number, &device, told),
                Some(Protocol::HotUpdater) => hot_updater(address, number, &device, told),
            });
        }
    }
    all
}

fn question(address: SocketAddr, path: &str, headers: &str, expected: &'static [u8]) -> Question {
    let head = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nUser-Agent: ExampleApp/41 (Mobile)\r\n");
    Question {
        request: format!("{head}{headers}\r\n").into_bytes(),
        expected,
    }
}

/// `text` with the value, if there is one.
fn optional(text: &str, value: Option<impl std::fmt::Display>) -> String {
    value.map_or_else(String::new, |value| format!("{text}{value}"))
}

fn own(address: SocketAddr, number: u32, device: &Device, told: Told) -> Question {
    let bundle = app(Protocol::Capgo, number);
    let version = device.runs.unwrap_or_default();
    let path = format!(
        "/api/update/check/{bundle}?platform={PLATFORM}&configuration={CONFIGURATION}&currentVersion=1.0.{version}\
         &currentBuild={}{}",
        version.max(1),
        optional("&deviceId=", device.id.as_ref())
    );
    let expected: &[u8] = match told {
        Told::Update => br#"{"updateAvailable":true,"requiresStoreUpdate":false,"#,
        Told::Nothing => br#"{"updateAvailable":false,"message":"No update available""#,
    };
    question(address, &path, "Accept: application/json\r\n", expected)
}

fn codepush(address: SocketAddr, number: u32, device: &Device, told: Told) -> Question {
    let bundle = app(Protocol::Codepush, number);
    let runs = device
        .runs
        .map(|release| format!("v{release}&package_hash={}", package_hash(release)));
    let path = format!(
        "/codepush/{bundle}/v0.1/public/codepush/update_check?deployment_key={DEPLOYMENT_KEY}&app_version=1.2.0{}{}",
        optional("&label=", runs),
        optional("&client_unique_id=", device.id.as_ref())
    );
    let expected: &[u8] = match told {
        Told::Update => br#"{"update_info":{"download_url":"http"#,
        Told::Nothing => br#"{"update_info":{"download_url":"","#,
    };
    question(address, &path, "Accept: application/json\r\n", expected)
}

fn expo(address: SocketAddr, number: u32, device: &Device, told: Told) -> Question {
    let headers = format!(
        "Accept: multipart/mixed,application/expo+json,application/json\r\nExpo-Platform: {PLATFORM}\r\n\
         Expo-Protocol-Version: 1\r\nExpo-Runtime-Version: {RUNTIME}\r\nExpo-Channel-Name: {CONFIGURATION}\r\n\
         Expo-Embedded-Update-ID: {embedded}\r\nExpo-Current-Update-ID: {}\r\n{}",
        uuid(device.runs.unwrap_or_default()),
        device
            .id
            .as_ref()
            .map_or_else(String::new, |id| format!("EAS-Client-ID: {id}\r\n")),
        embedded = uuid(0),
    );
    // Nothing new is 204, without a body.
    let expected: &[u8] = match told {
        Told::Update => b"--launchway-part\r\ncontent-disposition: form-data; name=\"manifest\"\r\n",
        Told::Nothing => b"",
    };
    question(
        address,
        &format!("/expo/{}", app(Protocol::Expo, number)),
        &headers,
        expected,
    )
}

fn capgo(address: SocketAddr, number: u32, device: &Device, told: Told) -> Question {
    let runs = optional("1.0.", device.runs);
    let body = format!(
        r#"{{"platform":"{PLATFORM}","device_id":"{}","app_id":"{}","custom_id":"","version_build":"1.0.0","version_code":"41","version_os":"14","version_name":"{}","plugin_version":"8.51.0","is_emulator":false,"is_prod":true,"defaultChannel":"{CONFIGURATION}"}}"#,
        device.id.as_deref().unwrap_or_default(),
        app(Protocol::Capgo, number),
        if runs.is_empty() { "builtin" } else { &runs },
    );
    let head = format!(
        "POST /capgo/updates HTTP/1.1\r\nHost: {address}\r\nUser-Agent: CapacitorUpdater/8.51.0\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    let expected: &[u8] = match told {
        Told::Update => br#"{"version":"1.0."#,
        Told::Nothing => br#"{"error":"no_new_version_available","#,
    };
    Question {
        request: (head + &body).into_bytes(),
        expected,
    }
}

/// A device of hot-updater has no id, but one of 1,000 cohorts.
fn hot_updater(address: SocketAddr, number: u32, device: &Device, told: Told) -> Question {
    let path = format!(
        "/hot-updater/{}/app-version/{PLATFORM}/1.2.0/{CONFIGURATION}/{}/{}{}",
        app(Protocol::HotUpdater, number),
        uuid(0),
        uuid(device.runs.unwrap_or_default()),
        optional("/", device.id.as_ref().map(|_| number % 1000 + 1))
    );
    let expected: &[u8] = match told {
        Told::Update => br#"{"id":"0190a8c6-"#,
        Told::Nothing => br#"{"status":"UP_TO_DATE"}"#,
    };
    question(address, &path, "Hot-Updater-SDK-Version: 0.36.3\r\n", expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_asks_the_same_three_questions() {
        let address = SocketAddr::from(([127, 0, 0, 1], 1));
        for protocol in [None].into_iter().chain(PROTOCOLS.map(Some)) {
            let all = questions(address, 2, protocol);
            assert_eq!(all.len(), 6);
            let nothing = all.iter().filter(|question| question.expected == all[2].expected);
            assert_eq!(nothing.count(), 2, "{protocol:?}");
        }
    }
}
