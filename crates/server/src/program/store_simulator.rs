//! `launchway-server store-simulator`: both app stores in memory, over HTTP, to try submissions on
//! (docs/store-simulator.md).

use std::ffi::OsString;
use std::io::{Cursor, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use futures::future::BoxFuture;
use launchway_app_store_simulator::{
    AppInfo, AppStoreApp, GooglePlayApp, Outcome, SIGNATURE_HEADER, Settings, Simulator,
};
use launchway_domain::bundle_id::BundleId;
use launchway_domain::time::EpochMs;
use launchway_os::clock::{Clock, SystemClock};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// The name of the command. It has its own command line, because the settings of the service do not apply to it.
pub const NAME: &str = "store-simulator";

/// A larger binary, in bytes, is accepted but not read.
const KEPT: usize = 512 << 20;

/// How often it looks for events to deliver.
const BETWEEN_DELIVERIES: Duration = Duration::from_millis(200);
/// The timeout of a receiver of events.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Simulates the App Store and Google Play, so that submissions can be tried without an account
///
/// Both stores are in memory, and are lost when it ends. It accepts any key whose tokens have the right form. Every
/// client that can reach it can control it, so let it listen only on trusted addresses.
#[derive(Debug, Parser)]
#[command(
    name = "launchway-server store-simulator",
    bin_name = "launchway-server store-simulator",
    version,
    after_help = "\
Point the service to it with --app-store-connect-url and --google-play-url.
Its control interface, for faults and rejections: curl http://127.0.0.1:8790/simulator"
)]
struct SimulatorArgs {
    /// Address and port to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8790")]
    listen: SocketAddr,
    /// Base of the URLs that it returns [default: the address that it listens on]
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// An app that the stores know; can be repeated [default: every app]
    #[arg(long = "app", value_name = "BUNDLE_ID")]
    apps: Vec<BundleId>,
    /// Speed of time in the stores; at 720, a review takes 30 seconds and a day of a phased release two minutes
    #[arg(long, value_name = "NUMBER", default_value_t = 720, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    speed: u32,
    /// Outcome of reviews
    #[arg(long, value_name = "OUTCOME", default_value = "pass")]
    reviews: Reviews,
}

/// The outcome of reviews.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Reviews {
    /// Every review approves.
    Pass,
    /// Every review rejects.
    Reject,
}

/// Runs the simulator with the arguments after its name, until a signal stops it.
pub fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments = SimulatorArgs::parse_from([OsString::from(NAME)].into_iter().chain(arguments));
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return super::fail(&error),
    };
    match runtime.block_on(serve(arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => super::fail(&error),
    }
}

async fn serve(arguments: SimulatorArgs) -> Result<(), String> {
    let listen = arguments.listen;
    let listener = TcpListener::bind(listen).await;
    let listener = listener.map_err(|error| format!("--listen {listen}: {error}"))?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let address = arguments
        .public_url
        .clone()
        .unwrap_or_else(|| format!("http://{address}"));
    let simulator = Simulator::new(settings(&arguments), &address, Arc::new(PausingClock));
    let handler = |kind| signal(kind).map_err(|error| error.to_string());
    let (mut terminate, mut interrupt) = (handler(SignalKind::terminate())?, handler(SignalKind::interrupt())?);
    let said = format!(
        "The App Store and Google Play are simulated at {address}, {} times as fast as they are.\n\n\
         Start the service so that it submits there:\n  \
         launchway-server --app-store-connect-url {address} --google-play-url {address}\n\n\
         See what can be ordered:\n  curl {address}/simulator\n",
        arguments.speed
    );
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(TIMEOUT)
        .build()
        .map_err(|error| error.to_string())?;
    let mut out = std::io::stdout();
    // Standard output may be closed, which is no reason not to serve.
    let _ = out.write_all(said.as_bytes()).and_then(|()| out.flush());
    tokio::select! {
        () = launchway_app_store_simulator::serve(listener, simulator.clone()) => {}
        () = deliver(&simulator, &client) => {}
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

/// Delivers webhook events once each; an event that a receiver does not accept is lost.
async fn deliver(simulator: &Simulator, client: &reqwest::Client) {
    loop {
        tokio::time::sleep(BETWEEN_DELIVERIES).await;
        for delivery in simulator.take_deliveries() {
            let call = client
                .post(&delivery.url)
                .header("content-type", "application/json")
                .header(SIGNATURE_HEADER, delivery.signature)
                .body(delivery.body);
            // There is nobody to tell about an error.
            let _ = call.send().await;
        }
    }
}

fn settings(arguments: &SimulatorArgs) -> Settings {
    let apps = || arguments.apps.iter().map(ToString::to_string);
    Settings {
        app_store: apps().map(|bundle_id| AppStoreApp::unreleased(&bundle_id)).collect(),
        google_play: apps().map(|package| GooglePlayApp::unreleased(&package)).collect(),
        makes_apps: arguments.apps.is_empty(),
        speed: arguments.speed,
        outcome: match arguments.reviews {
            Reviews::Pass => Outcome::Pass,
            Reviews::Reject => Outcome::Reject,
        },
        read_binary: Some(Arc::new(read)),
        kept: KEPT,
        ..Settings::default()
    }
}

fn read(binary: &[u8]) -> Option<AppInfo> {
    let facts = launchway_binaries::read(Cursor::new(binary)).ok()?;
    Some(AppInfo {
        bundle_id: facts.bundle_id,
        version: facts.version.unwrap_or_default(),
        build_number: facts.build_number?,
    })
}

/// The system clock and timer.
struct PausingClock;

impl launchway_app_store_simulator::Clock for PausingClock {
    fn now(&self) -> EpochMs {
        SystemClock.now()
    }

    fn pause(&self, delay: Duration) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(delay))
    }
}
