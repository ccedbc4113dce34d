//! `trust verify`: verifies the server's metadata and its published updates as a phone does, and says what a phone would.

use std::collections::BTreeSet;

use launchway_api::updates::UpdateView;
use launchway_client::{Client, Paging, UpdateFilter};
use launchway_domain::configuration::Configuration;
use launchway_domain::platform::Platform;
use launchway_domain::time::{EpochMs, minute};
use launchway_domain::version::Version;
use launchway_trust::client::{App, Client as Phone, Offer};
use launchway_trust::{TrustFile, UpdateRole};
use serde::Serialize;
use serde_json::json;

use super::Subject;
use crate::args::trust::TrustVerifyArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::printer::table::Table;
use crate::trust::memory::Memory;

/// The updates of a configuration among which the newest of each platform are looked for.
const UPDATES: u32 = 100;
/// What a phone says about something that it accepts.
const ACCEPTED: &str = "accepted";

/// What a phone says about one thing.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    configuration: Option<String>,
    what: String,
    /// `accepted`, or the code of the reason for which a phone refuses it.
    result: &'static str,
    detail: String,
}

pub async fn run(arguments: TrustVerifyArgs, context: &Context) -> Result<(), Failure> {
    let subject = Subject::of(&arguments.app, context)?;
    let file = subject.project.required()?;
    let configurations = match arguments.configuration {
        Some(told) => vec![Some(told)],
        None => configurations(&subject, context).await?,
    };
    let mut lines = Vec::new();
    for configuration in configurations {
        lines.extend(phone(&subject, file, configuration.as_ref(), context).await?);
    }
    let refused = lines.iter().filter(|line| line.result != ACCEPTED).count();
    context.printer.result(&json!({ "lines": lines }).to_string(), || {
        let mut table = Table::new(&["Configuration", "What", "A phone says", "Detail"]);
        for line in &lines {
            let configuration = line.configuration.clone().unwrap_or_else(|| "none".to_owned());
            table.row(vec![
                configuration,
                line.what.clone(),
                line.result.to_owned(),
                line.detail.clone(),
            ]);
        }
        context.printer.table(&table)
    })?;
    match refused {
        0 => Ok(()),
        1 => Err(Failure::failed("a phone refuses 1 of these")),
        many => Err(Failure::failed(format!("a phone refuses {many} of these"))),
    }
}

/// The configurations that have a role, as far as the server's metadata or what this machine verified before says.
async fn configurations(subject: &Subject, context: &Context) -> Result<Vec<Option<Configuration>>, Failure> {
    let file = subject.project.required()?;
    let stored = Memory::of(&context.environment, file.repository).load();
    let named = match subject.repository(context).await {
        Ok(repository) => repository.update_roles().collect(),
        Err(_) => Phone::open_for_signer(file, &subject.project.bundle_id, stored.as_ref())
            .map(|known| roles_of(&known))
            .unwrap_or_default(),
    };
    let named = named.into_iter().filter_map(|role: UpdateRole| match role {
        UpdateRole::Configuration(configuration) => Some(Some(configuration)),
        UpdateRole::Any => None,
    });
    let named: Vec<_> = named.collect();
    Ok(if named.is_empty() { vec![None] } else { named })
}

fn roles_of(known: &Phone) -> Vec<UpdateRole> {
    let targets = known.metadata().targets();
    let delegations = targets.and_then(|targets| targets.body().delegations.as_ref());
    let roles = delegations.iter().flat_map(|delegations| &delegations.roles);
    roles.filter_map(|role| role.name.parse().ok()).collect()
}

/// What a phone of this configuration says that has seen what this machine has.
async fn phone(
    subject: &Subject,
    file: &TrustFile,
    configuration: Option<&Configuration>,
    context: &Context,
) -> Result<Vec<Line>, Failure> {
    let line = |what: &str, result, detail: String| Line {
        configuration: configuration.map(ToString::to_string),
        what: what.to_owned(),
        result,
        detail,
    };
    let bundle_id = &subject.project.bundle_id;
    let stored = Memory::of(&context.environment, file.repository).load();
    let mut phone = match Phone::open(file, bundle_id, configuration, stored.as_ref()) {
        Ok(phone) => phone,
        Err(error) => return Ok(vec![line(&error.role, error.reason.code(), error.reason.to_string())]),
    };
    let now = context.now();
    let mut run = phone.refresh(now);
    let refused = loop {
        let request = match run.next_request() {
            Ok(Some(request)) => request,
            Ok(None) => break None,
            Err(error) => break Some(error),
        };
        let bytes = subject
            .service
            .trust_file(bundle_id.as_str(), &request.to_string(), request.limit())
            .await?;
        let taken = match bytes {
            Some(bytes) => run.take(&bytes).map(|_| ()),
            None => run.report_missing(),
        };
        if let Err(error) = taken {
            break Some(error);
        }
    };
    let files = accepted(&phone, configuration).into_iter();
    let mut lines: Vec<Line> = files.map(|(what, detail)| line(&what, ACCEPTED, detail)).collect();
    match refused {
        Some(error) => lines.push(line(&error.role, error.reason.code(), error.reason.to_string())),
        None => {
            for update in newest_updates(&subject.service, bundle_id.as_str(), configuration).await? {
                let what = format!(
                    "update {} {} ({})",
                    update.platform, update.version, update.build_number
                );
                let (result, detail) = judge(&phone, &update, now);
                lines.push(line(&what, result, detail));
            }
        }
    }
    Ok(lines)
}

/// The files that the phone trusts, with their versions.
fn accepted(phone: &Phone, configuration: Option<&Configuration>) -> Vec<(String, String)> {
    let detail = |version: u64, expires: EpochMs| format!("version {version}, expires {}", minute(expires));
    let trusted = phone.metadata();
    let mut lines = vec![(
        "root".to_owned(),
        detail(trusted.root().version(), trusted.root().header().expires),
    )];
    if let Some(file) = trusted.timestamp() {
        lines.push(("timestamp".to_owned(), detail(file.version(), file.header().expires)));
    }
    if let Some(file) = trusted.snapshot() {
        lines.push(("snapshot".to_owned(), detail(file.version(), file.header().expires)));
    }
    if let Some(file) = trusted.targets() {
        lines.push(("targets".to_owned(), detail(file.version(), file.header().expires)));
    }
    let own = configuration.cloned().map(UpdateRole::Configuration);
    for role in own.into_iter().chain([UpdateRole::Any]).map(|role| role.to_string()) {
        if let Some(file) = trusted.role(&role) {
            let said = detail(file.version(), file.header().expires);
            lines.push((role, format!("{said}, {} updates", file.body().targets.len())));
        }
    }
    lines
}

/// The newest published update of each platform: older ones may be pruned from the role, and are then not offered.
async fn newest_updates(
    service: &Client,
    bundle_id: &str,
    configuration: Option<&Configuration>,
) -> Result<Vec<UpdateView>, Failure> {
    let filter = UpdateFilter {
        bundle_id: Some(bundle_id.to_owned()),
        configuration: configuration.map(ToString::to_string),
        status: Some("published".to_owned()),
        ..UpdateFilter::default()
    };
    let paging = Paging {
        limit: UPDATES,
        offset: 0,
    };
    let mut updates = service.updates(&filter, paging).await?.value.items;
    let mut seen = BTreeSet::new();
    updates.retain(|update| seen.insert(update.platform.to_string()));
    Ok(updates)
}

/// What an older app of the update's own fingerprint says about it.
fn judge(phone: &Phone, update: &UpdateView, now: EpochMs) -> (&'static str, String) {
    let (Ok(platform), Ok(sha256), Ok(length), Ok(oldest)) = (
        update.platform.as_str().parse::<Platform>(),
        update.sha256.parse(),
        u64::try_from(update.size),
        Version::parse("0.0.0"),
    ) else {
        return (
            "malformed-answer",
            "the update has a platform, hash or size that is unknown".to_owned(),
        );
    };
    let offer = Offer {
        platform,
        version: &update.version,
        build_number: &update.build_number,
        sha256,
        length,
    };
    let app = App {
        platform,
        fingerprint: update.fingerprint.as_deref(),
        version: &oldest,
        build: None,
    };
    match phone.accept(&offer, &app, now) {
        Ok(signed) => (ACCEPTED, format!("signed by {}", signed.role)),
        Err(error) => (error.code(), error.to_string()),
    }
}
