//! `fingerprint diff`: the differences between two native apps.

use launchway_domain::fingerprint::{Change, FingerprintDocument};
use serde_json::{Value, json};

use crate::args::fingerprint::DiffArgs;
use crate::commands::fingerprint::side::{HERE, Side, changes, difference};
use crate::context::Context;
use crate::failure::Failure;
use crate::printer::table::Table;

/// Digits of a tree's hash in a table.
const SHOWN: usize = 12;

pub async fn run(arguments: DiffArgs, context: &Context) -> Result<(), Failure> {
    let (there, here) = match (arguments.there.as_str(), arguments.here.as_str()) {
        (HERE, HERE) => {
            return Err(
                Failure::usage("both sides are the project, so there is nothing to compare")
                    .hint("give a file or an id as one side"),
            );
        }
        // The project is fingerprinted on the platform of the other side.
        (HERE, other) => {
            let here = Side::read(other, context).await?;
            let platform = arguments.platform.unwrap_or(here.platform);
            (Side::local(Some(platform), &arguments.app, context).await?, here)
        }
        (other, HERE) => {
            let there = Side::read(other, context).await?;
            let platform = arguments.platform.unwrap_or(there.platform);
            let here = Side::local(Some(platform), &arguments.app, context).await?;
            (there, here)
        }
        (there, here) => (Side::read(there, context).await?, Side::read(here, context).await?),
    };
    if changes(&there, &here).is_none() {
        let note = "Only the hash of one side is known. Compare two documents to see the differences.";
        context.printer.note(note);
    }
    let json = json(&there, &here);
    context
        .printer
        .result(&json.to_string(), || prose(&there, &here, context))
}

/// The differences as JSON.
pub fn json(there: &Side, here: &Side) -> Value {
    let reason = difference(there, here);
    let changes = changes(there, here).map(|changes| changes.iter().map(change_json).collect::<Vec<_>>());
    json!({
        "same": reason.is_none(),
        "reason": reason,
        "there": there.hash.as_str(),
        "here": here.hash.as_str(),
        "changes": changes,
    })
}

/// The differences as text: a table when both documents are known.
pub fn prose(there: &Side, here: &Side, context: &Context) -> String {
    let documents = there.document.as_ref().zip(here.document.as_ref());
    match (difference(there, here), changes(there, here), documents) {
        (None, ..) => "No differences\n".to_owned(),
        (Some(_), Some(changes), Some((from, to))) => context.printer.table(&table(&changes, from, to)),
        (Some(reason), ..) => format!("{reason}\n"),
    }
}

fn table(changes: &[Change<'_>], from: &FingerprintDocument, to: &FingerprintDocument) -> Table {
    let mut table = Table::new(&["plugin", "there", "here"]);
    let none = "-".to_owned();
    let start = |hash: &str| hash.chars().take(SHOWN).collect::<String>();
    for change in changes {
        let (what, there, here) = match change {
            Change::Framework { from, to } => ("Framework", from.to_string(), to.to_string()),
            Change::Platform { from, to } => ("Platform", from.to_string(), to.to_string()),
            Change::PluginAdded { name, version } => (*name, none.clone(), (*version).to_owned()),
            Change::PluginRemoved { name, version } => (*name, (*version).to_owned(), none.clone()),
            Change::PluginVersion { name, from, to } => (*name, (*from).to_owned(), (*to).to_owned()),
            Change::Resources => ("App resources", start(from.resources()), start(to.resources())),
            Change::NativeSource => ("Native source", start(from.native()), start(to.native())),
        };
        table.row(vec![what.to_owned(), there, here]);
    }
    table
}

fn change_json(change: &Change<'_>) -> Value {
    let (kind, name, from, to) = match change {
        Change::Framework { from, to } => ("framework", None, Some(from.to_string()), Some(to.to_string())),
        Change::Platform { from, to } => ("platform", None, Some(from.to_string()), Some(to.to_string())),
        Change::PluginAdded { name, version } => ("plugin", Some(*name), None, Some((*version).to_owned())),
        Change::PluginRemoved { name, version } => ("plugin", Some(*name), Some((*version).to_owned()), None),
        Change::PluginVersion { name, from, to } => {
            ("plugin", Some(*name), Some((*from).to_owned()), Some((*to).to_owned()))
        }
        Change::Resources => ("resources", None, None, None),
        Change::NativeSource => ("native", None, None, None),
    };
    json!({ "kind": kind, "name": name, "there": from, "here": to, "message": change.to_string() })
}
