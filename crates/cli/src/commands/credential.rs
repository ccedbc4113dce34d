//! `credential`: credentials that sign apps and authenticate at app stores. The file and its passwords go to the server
//! and nowhere else.

mod file;

use launchway_api::credentials::{CreateCredential, CredentialTaken, CredentialView};
use launchway_api::open;
use launchway_api::secret::SecretText;
use launchway_domain::credential::CredentialKind;
use serde_json::Value;

use crate::args::credential::{AddCredentialArgs, CredentialCommand};
use crate::context::Context;
use crate::failure::Failure;
use crate::printer::fields::{fields, format_minute};
use crate::printer::table::Table;
use crate::terminal::read_input;

const PASSWORD: &str = "LAUNCHWAY_CREDENTIAL_PASSWORD";
const KEY_PASSWORD: &str = "LAUNCHWAY_CREDENTIAL_KEY_PASSWORD";
/// Longest password that is read.
const LONGEST_PASSWORD: u64 = 4096;

pub async fn run(command: CredentialCommand, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let printer = &context.printer;
    match command {
        CredentialCommand::List(page) => {
            let answer = client.credentials(page.paging()).await?;
            printer.page("credential", &answer, table)
        }
        CredentialCommand::Show(credential) => {
            let answer = client.credential(&credential.id).await?;
            printer.result(&answer.body, || prose(&answer.value))
        }
        CredentialCommand::Add(arguments) => {
            let wanted = wanted(arguments, context).await?;
            let answer = client.create_credential(&wanted).await?;
            printer.result(&answer.body, || taken_prose(&answer.value))
        }
        CredentialCommand::Delete(credential) => {
            let question = format!(
                "Delete {}? Builds and submissions that need it will fail.",
                credential.id
            );
            context.terminal.require_confirmation(&question, credential.yes).await?;
            printer.deletion(&client.delete_credential(&credential.id).await?)
        }
    }
}

async fn wanted(arguments: AddCredentialArgs, context: &Context) -> Result<CreateCredential, Failure> {
    let kind = match arguments.kind {
        Some(kind) => open::CredentialKind::of(kind),
        None => file::kind(&arguments.file)?.into(),
    };
    let content = file::content(&arguments.file)?;
    let key_id = match kind.known() {
        Some(CredentialKind::AppStoreConnectKey) => arguments.key_id.or_else(|| file::key_id(&arguments.file)),
        _ => arguments.key_id,
    };
    let (password, key_password) = match kind.known() {
        Some(CredentialKind::AndroidKeystore | CredentialKind::AppleCertificate) => (
            Some(password(context).await?),
            context.environment.text(KEY_PASSWORD)?.map(SecretText::new),
        ),
        _ => (None, None),
    };
    Ok(CreateCredential {
        kind,
        name: arguments.name,
        content,
        password,
        alias: arguments.alias,
        key_password,
        key_id,
        issuer_id: arguments.issuer_id,
        bundle_id: arguments.bundle_id.map(|id| id.to_string()),
    })
}

/// The password of the file; it may be empty.
async fn password(context: &Context) -> Result<SecretText, Failure> {
    if let Some(password) = context.environment.text(PASSWORD)? {
        return Ok(SecretText::new(password));
    }
    if context.terminal.is_interactive() {
        return context
            .terminal
            .ask_hidden("Password of the file")
            .await
            .map(SecretText::new);
    }
    if context.terminal.is_piped() {
        let text = read_input(LONGEST_PASSWORD).await?;
        return Ok(SecretText::new(text.trim_end_matches(['\r', '\n']).to_owned()));
    }
    Err(Failure::usage("no terminal to prompt for the password")
        .hint(format!("pipe the password in, or set {PASSWORD}")))
}

fn table(credentials: &[CredentialView]) -> Table {
    let mut table = Table::new(&["Id", "Status", "Kind", "Name", "For", "Expires"]);
    for credential in credentials {
        let expires = credential.expires_at.as_deref();
        table.row(vec![
            credential.id.clone(),
            credential.status.to_string(),
            credential.kind.to_string(),
            credential.name.clone(),
            apps(credential),
            expires.map_or("never".to_owned(), format_minute),
        ]);
    }
    table
}

fn taken_prose(taken: &CredentialTaken) -> String {
    let mut text = prose(&taken.record);
    if let Some(events) = &taken.store_events {
        text.push_str(
            "\nWebhook to create in App Store Connect, so that submissions continue without delay. It is shown only once.\n",
        );
        text.push_str(&fields(&[
            ("URL", events.url.clone()),
            ("Secret", events.secret.clone()),
        ]));
    }
    text
}

fn prose(credential: &CredentialView) -> String {
    let expires = credential.expires_at.clone();
    let mut text = fields(&[
        ("Id", credential.id.clone()),
        ("Status", credential.status.to_string()),
        ("Kind", credential.kind.to_string()),
        ("Name", credential.name.clone()),
        ("For", apps(credential)),
        ("Fingerprint", credential.fingerprint.clone()),
        ("Expires", expires.unwrap_or_else(|| "never".to_owned())),
        (
            "Given",
            format!("{} by {}", credential.created_at, credential.created_by),
        ),
    ]);
    if let Some(facts) = credential.facts.as_object().filter(|facts| !facts.is_empty()) {
        let rows: Vec<_> = facts.iter().map(|(name, fact)| (name.as_str(), shown(fact))).collect();
        text.push_str("\nRead from the file\n");
        text.push_str(&fields(&rows));
    }
    text
}

fn apps(credential: &CredentialView) -> String {
    credential.bundle_id.clone().unwrap_or_else(|| "every app".to_owned())
}

fn shown(fact: &Value) -> String {
    match fact {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join("\n"),
        other => other.to_string(),
    }
}
