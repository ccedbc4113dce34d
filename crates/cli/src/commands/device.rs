//! `device`: a phone for the terminal, with the client that `docs/reference/sdk.md` describes.

mod network;
mod phone;
mod view;

use std::io;
use std::time::Duration;

use launchway_device::boot::Ending;
use launchway_device::check::CheckError;
use launchway_device::download::DownloadError;
use launchway_device::trust::TrustError;
use launchway_device::{Device, Mark, SyncError};

use crate::args::device::{DeviceArgs, DeviceCommand};
use crate::commands::device::network::Http;
use crate::commands::device::phone::{App, Phone};
use crate::commands::device::view::PhoneView;
use crate::commands::run_blocking;
use crate::context::Context;
use crate::failure::{Exit, Failure};

pub async fn run(arguments: DeviceArgs, context: &Context) -> Result<(), Failure> {
    let DeviceArgs { dir, timeout, command } = arguments;
    let phone = Phone { dir };
    let command = match command {
        DeviceCommand::Init(app) => {
            let Some(url) = &context.settings.url else {
                return Err(Failure::usage("no server specified").hint("give --url, or set LAUNCHWAY_URL"));
            };
            phone.install(&App::from_store(app, &url.value)?)?;
            DeviceCommand::Start
        }
        command => command,
    };
    let app = phone.app()?;
    let network = Http::new(&app.server()?, Duration::from_secs(timeout))?;
    let work = move || phone.run(&app, &network, |device| perform(device, &app, &phone, command));
    // The client blocks, and so does its network.
    let view = run_blocking(work).await???;
    let json = serde_json::to_string(&view).map_err(|error| Failure::failed(error.to_string()))?;
    context.printer.result(&json, || view.prose())
}

/// Performs one command, and returns what the phone is like afterwards.
fn perform(device: &Device<'_>, app: &App, phone: &Phone, command: DeviceCommand) -> Result<PhoneView, Failure> {
    let start = |ending| device.start(&app.launch(ending));
    let mut view = PhoneView::default();
    match command {
        DeviceCommand::Init(_) | DeviceCommand::Start => view.started(&start(Ending::Explained)),
        DeviceCommand::Check => view.answered(&device.check().map_err(failure)?),
        DeviceCommand::Install => {
            let outcome = device.sync(&mut |_| ()).map_err(failure)?;
            view.started(&start(Ending::Explained));
            view.synced(&outcome);
        }
        DeviceCommand::Confirm => view.confirmed(device.confirm().map_err(unusable)?),
        DeviceCommand::Crash { stack } => {
            device.mark(Mark::Crash(stack)).map_err(unusable)?;
            view.started(&start(Ending::Crash));
        }
        DeviceCommand::Report => view.reported(device.send_reports().map_err(failure)?),
        DeviceCommand::Status => {}
    }
    if let Some(status) = device.status().map_err(unusable)? {
        view.add(&status, &phone.client_dir());
    }
    Ok(view)
}

fn unusable(error: io::Error) -> Failure {
    Failure::failed(format!("cannot use the storage of the phone: {error}"))
}

fn failure(error: SyncError) -> Failure {
    let message = error.to_string();
    match error {
        SyncError::Check(CheckError::Network(_) | CheckError::Status { .. })
        | SyncError::Unverified(TrustError::Network(_) | TrustError::Status { .. })
        | SyncError::Download(
            DownloadError::Expired(_) | DownloadError::Network(_) | DownloadError::Status(_) | DownloadError::Wrong(_),
        ) => Failure::new(Exit::Server, message).hint("check the address, and that the server is running"),
        SyncError::NotStarted => Failure::failed(message).hint("run `launchway device start`"),
        _ => Failure::failed(message),
    }
}
