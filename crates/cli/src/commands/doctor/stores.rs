//! `doctor stores`: tries keys of the app stores on this machine, with requests that only read. The keys are sent nowhere
//! else, and the transcript contains none of them.

mod account;

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use launchway_app_stores::survey::Answer;
use launchway_app_stores::transcript::Recorder;
use launchway_app_stores::transport::HttpTransport;
use launchway_client::{Timeouts, http_client};
use launchway_domain::platform::Platform;
use launchway_domain::submission::Store;
use launchway_domain::time::EpochMs;
use serde_json::{Value, json};

use self::account::{Account, Addresses};
use crate::args::project::DoctorStoresArgs;
use crate::context::{Context, now};
use crate::failure::Failure;
use crate::printer::clean;

/// A key, and what its app store answered.
struct Survey<'a> {
    file: &'a Path,
    store: Store,
    /// The key, for people.
    title: String,
    answers: Vec<Answer>,
}

/// Checks the files, and with `--live` asks the app stores.
pub async fn run(arguments: DoctorStoresArgs, context: &Context) -> Result<(), Failure> {
    let addresses = Addresses::of(&context.environment)?;
    let accounts: Result<Vec<_>, Failure> = arguments
        .files
        .iter()
        .map(|file| Account::read(file, &arguments, &addresses))
        .collect();
    let accounts = accounts?;
    let mut surveys: Vec<_> = std::iter::zip(&arguments.files, &accounts)
        .map(|(file, account)| Survey {
            file,
            store: account.store(),
            title: account.title(),
            answers: Vec::new(),
        })
        .collect();
    if !arguments.live {
        context.printer.note("the files are valid; --live asks the app stores");
        return report(&surveys, context);
    }
    // That the file cannot be written must be known before the first request.
    let transcript = match &arguments.transcript {
        Some(path) => Some((path, create(path)?)),
        None => None,
    };
    let recorder = recorder(&addresses)?;
    for (survey, account) in std::iter::zip(&mut surveys, accounts) {
        let bundle_id = bundle_id(survey.store, &arguments, context);
        survey.answers = account
            .survey(
                recorder.clone(),
                Arc::new(ThisMachine),
                &addresses,
                bundle_id.as_deref(),
            )
            .await;
    }
    if let Some((path, mut file)) = transcript {
        let text = heading(&surveys) + &recorder.transcript();
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
        written.map_err(|error| Failure::failed(format!("cannot write {}: {error}", path.display())))?;
        let note = format!(
            "wrote the transcript to {}; read it before you share it",
            path.display()
        );
        context.printer.note(&note);
    }
    report(&surveys, context)
}

fn create(path: &Path) -> Result<File, Failure> {
    let created = File::create_new(path);
    created.map_err(|error| {
        Failure::usage(format!("cannot create {}: {error}", path.display())).hint("name a file that does not exist")
    })
}

fn recorder(addresses: &Addresses) -> Result<Arc<Recorder>, Failure> {
    let client = http_client(&addresses.app_store, &Timeouts::default())?;
    Ok(Arc::new(Recorder::new(Arc::new(HttpTransport::new(client)))))
}

/// The app to ask about: the one named, or the project's.
fn bundle_id(store: Store, arguments: &DoctorStoresArgs, context: &Context) -> Option<String> {
    let platform = match store {
        Store::AppStore => Platform::Ios,
        Store::GooglePlay => Platform::Android,
    };
    let project = || Some(context.settings.project.bundle_id(None, platform)?.value);
    let found = arguments.bundle_id.as_ref().map(ToString::to_string).or_else(project);
    if found.is_none() {
        let note = format!(
            "no app is named for {}, so only its key is tried; add --bundle-id",
            store.title()
        );
        context.printer.note(&note);
    }
    found
}

/// The clock of this machine.
struct ThisMachine;

impl launchway_app_stores::Clock for ThisMachine {
    fn now(&self) -> EpochMs {
        now()
    }

    fn pause(&self, delay: Duration) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(delay))
    }
}

/// The first lines of a transcript.
fn heading(surveys: &[Survey<'_>]) -> String {
    let mut text = format!("launchway {} doctor stores --live\n", env!("CARGO_PKG_VERSION"));
    for survey in surveys {
        let _ = writeln!(text, "\n{}", survey.store.title());
        for answer in &survey.answers {
            let (status, _) = outcome(answer);
            // A message may quote the app.
            let found = match &answer.found {
                Ok(found) => found.clone(),
                Err(error) => error.clone().into_error().code.as_str().to_owned(),
            };
            let _ = writeln!(text, "{status:7}  {}: {found}", subject(answer));
        }
    }
    text.push('\n');
    text
}

fn subject(answer: &Answer) -> String {
    match answer.track {
        Some(track) => format!("{} of {track}", answer.question.as_str()),
        None => answer.question.as_str().to_owned(),
    }
}

/// The status, and what to do about it.
fn outcome(answer: &Answer) -> (&'static str, Option<&'static str>) {
    match &answer.found {
        Ok(_) => ("ok", None),
        Err(error) => ("problem", Some(error.clone().into_error().code.fix())),
    }
}

fn report(surveys: &[Survey<'_>], context: &Context) -> Result<(), Failure> {
    let answers = surveys.iter().flat_map(|survey| &survey.answers);
    let problems = answers.filter(|answer| answer.found.is_err()).count();
    let accounts: Vec<Value> = surveys.iter().map(as_json).collect();
    let status = if problems == 0 { "ok" } else { "problem" };
    let summary = json!({ "status": status, "accounts": accounts });
    context.printer.result(&summary.to_string(), || prose(surveys))?;
    match problems {
        0 => Ok(()),
        1 => Err(Failure::failed("1 problem found")),
        many => Err(Failure::failed(format!("{many} problems found"))),
    }
}

fn as_json(survey: &Survey<'_>) -> Value {
    let answers: Vec<Value> = survey
        .answers
        .iter()
        .map(|answer| {
            let (status, fix) = outcome(answer);
            let (message, code) = match &answer.found {
                Ok(found) => (found.clone(), None),
                Err(error) => {
                    let error = error.clone().into_error();
                    (error.message, Some(error.code.as_str()))
                }
            };
            let mut shown = json!({"question": answer.question, "status": status, "message": message});
            for (name, value) in [("track", answer.track), ("code", code), ("fix", fix)] {
                if let Some(value) = value {
                    shown[name] = json!(value);
                }
            }
            shown
        })
        .collect();
    json!({"file": survey.file.display().to_string(), "store": survey.store, "answers": answers})
}

fn prose(surveys: &[Survey<'_>]) -> String {
    let mut text = String::new();
    for survey in surveys {
        let place = format!("{} ({})", survey.title, survey.file.display());
        let _ = writeln!(text, "{}", clean(&place));
        for answer in &survey.answers {
            let (status, fix) = outcome(answer);
            let message = match &answer.found {
                Ok(found) => found.clone(),
                Err(error) => error.clone().into_error().message,
            };
            let _ = writeln!(text, "{status:7}  {}: {}", subject(answer), clean(&message));
            if let Some(fix) = fix {
                let _ = writeln!(text, "         → {}", clean(fix));
            }
        }
    }
    text
}
