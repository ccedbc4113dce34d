//! `credential`: credentials that sign apps and authenticate at app stores. The file and its passwords go to the server
//! and nowhere else.

mod create;
pub mod file;
mod password;

use base64::prelude::{BASE64_STANDARD, Engine};
use launchway_api::credentials::{CreateCredential, CredentialTaken, CredentialView};
use launchway_api::open;
use launchway_api::secret::SecretText;
use launchway_client::{Answer, Client};
use launchway_domain::credential::CredentialKind;
use serde_json::Value;

use crate::args::credential::{AddCredentialArgs, CredentialCommand};
use crate::commands::credential::file::FileKind;
use crate::commands::credential::password::Secrets;
use crate::context::Context;
use crate::failure::Failure;
use crate::names::Names;
use crate::printer::fields::{fields, format_minute};
use crate::printer::table::Table;

pub async fn run(command: CredentialCommand, context: &Context) -> Result<(), Failure> {
    // Making a file needs no server.
    let client = || context.client();
    let printer = &context.printer;
    match command {
        CredentialCommand::List(page) => {
            let answer = client()?.credentials(page.paging()).await?;
            printer.page("credential", &answer, table)
        }
        CredentialCommand::Show(credential) => {
            let client = client()?;
            let answer = client.credential(&credential.id).await?;
            let names = Names::read([answer.value.created_by.as_str()], &client, context).await;
            printer.result(&answer.body, || prose(&answer.value, &names))
        }
        CredentialCommand::Add(arguments) => {
            let told_kind = arguments.kind.is_some();
            let wanted = wanted(arguments, context).await?;
            let client = client()?;
            let answer = client.create_credential(&wanted).await;
            let answer = answer.map_err(|error| file::refused(error, told_kind))?;
            print_taken(&answer, &client, context).await
        }
        CredentialCommand::Create(arguments) => create::run(arguments, context).await,
        CredentialCommand::RotateEventsSecret(credential) => {
            let client = client()?;
            let answer = client.rotate_events_secret(&credential.id).await?;
            print_taken(&answer, &client, context).await
        }
        CredentialCommand::Delete(credential) => {
            let client = client()?;
            let question = async || {
                let record = client.credential(&credential.id).await?.value;
                Ok(format!(
                    "Delete {} ({}, {})? Builds and submissions that need it will fail.",
                    record.name, record.kind, record.id
                ))
            };
            context
                .terminal
                .require_confirmation_of(credential.yes, question)
                .await?;
            // Afterwards it has no name any more.
            let names = Names::read([credential.id.as_str()], &client, context).await;
            let answer = client.delete_credential(&credential.id).await?;
            printer.deletion(&answer, &names.label(&answer.value.id))
        }
    }
}

async fn wanted(arguments: AddCredentialArgs, context: &Context) -> Result<CreateCredential, Failure> {
    let content = file::bytes(&arguments.file)?;
    let mut password = None;
    let kind = match arguments.kind {
        Some(told) => open::CredentialKind::of(told),
        None => match file::kind(&arguments.file, &content)? {
            FileKind::Known(kind) => kind.into(),
            FileKind::Pkcs12 => {
                let secrets = password.insert(Secrets::read(context).await?);
                file::kind_of_pkcs12(&content, secrets, arguments.alias.as_deref())?.into()
            }
        },
    };
    let is_keystore = matches!(
        kind.known(),
        Some(CredentialKind::AndroidKeystore | CredentialKind::AppleCertificate)
    );
    if is_keystore && password.is_none() {
        password = Some(Secrets::read(context).await?);
    }
    let key_id = match kind.known() {
        Some(CredentialKind::AppStoreConnectKey) => arguments.key_id.or_else(|| file::key_id(&arguments.file)),
        _ => arguments.key_id,
    };
    let (password, key_password) = password.map_or((None, None), |secrets| (Some(secrets.file), secrets.key));
    Ok(CreateCredential {
        kind,
        name: arguments.name,
        content: SecretText::new(BASE64_STANDARD.encode(&*content)),
        password,
        alias: arguments.alias,
        key_password,
        key_id,
        issuer_id: arguments.issuer_id,
        bundle_id: arguments.bundle_id.map(|id| id.to_string()),
    })
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

async fn print_taken(answer: &Answer<CredentialTaken>, client: &Client, context: &Context) -> Result<(), Failure> {
    let taken = &answer.value;
    let names = Names::read([taken.record.created_by.as_str()], client, context).await;
    context.printer.result(&answer.body, || taken_prose(taken, &names))
}

fn taken_prose(taken: &CredentialTaken, names: &Names) -> String {
    let mut text = prose(&taken.record, names);
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

fn prose(credential: &CredentialView, names: &Names) -> String {
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
            format!("{} by {}", credential.created_at, names.label(&credential.created_by)),
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
