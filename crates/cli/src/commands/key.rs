//! `key`: API keys. Prints a new key alone to standard output, and everything about it to standard error.

use launchway_api::keys::{CreateKey, KeyView};
use launchway_api::open;

use crate::args::key::{CreateKeyArgs, KeyCommand};
use crate::context::Context;
use crate::failure::Failure;
use crate::names::Names;
use crate::printer::fields::{fields, format_minute};
use crate::printer::table::Table;

pub async fn run(command: KeyCommand, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    match command {
        KeyCommand::List(page) => context
            .printer
            .page("API key", &client.keys(page.paging()).await?, table),
        KeyCommand::Create(arguments) => create(arguments, context).await,
        KeyCommand::Revoke(key) => {
            let question = async || {
                let record = client.key(&key.id).await?.value;
                let (name, id) = (record.name, record.id);
                Ok(format!("Revoke {name} ({id})? Requests with it will be refused."))
            };
            context.terminal.require_confirmation_of(key.yes, question).await?;
            let names = Names::read([key.id.as_str()], &client, context).await;
            let answer = client.revoke_key(&key.id).await?;
            context.printer.deletion(&answer, &names.label(&answer.value.id))
        }
    }
}

async fn create(arguments: CreateKeyArgs, context: &Context) -> Result<(), Failure> {
    let CreateKeyArgs {
        name,
        scopes,
        expires_in_days,
    } = arguments;
    let wanted = CreateKey {
        name,
        scopes: scopes.into_iter().map(open::Scope::of).collect(),
        expires_in_days,
    };
    let answer = context.client()?.create_key(&wanted).await?;
    let record = &answer.value.record;
    // A previous attempt of this request created the key, and the only response with the key was lost.
    let Some(key) = &answer.value.key else {
        let message = format!("{} was created, but the response that shows it was lost", record.id);
        return Err(Failure::failed(message).hint(format!(
            "create another, and revoke this one: launchway key revoke {}",
            record.id
        )));
    };
    context.printer.note(fields(&about(record)).trim_end());
    context.printer.result(&answer.body, || format!("{key}\n"))?;
    context.printer.note("Copy the key now: it is not shown again");
    Ok(())
}

fn about(key: &KeyView) -> [(&'static str, String); 4] {
    [
        ("Id", key.id.clone()),
        ("Name", key.name.clone()),
        ("Scopes", scopes(key)),
        ("Expires", key.expires_at.clone().unwrap_or_else(|| "never".to_owned())),
    ]
}

fn scopes(key: &KeyView) -> String {
    key.scopes
        .iter()
        .map(|scope| scope.as_str())
        .collect::<Vec<_>>()
        .join(", ")
}

fn table(keys: &[KeyView]) -> Table {
    let mut table = Table::new(&["Id", "Status", "Name", "Begins", "Scopes", "Last used", "Expires"]);
    let or_never = |time: &Option<String>| time.as_deref().map_or("never".to_owned(), format_minute);
    for key in keys {
        table.row(vec![
            key.id.clone(),
            key.status.to_string(),
            key.name.clone(),
            format!("{}…", key.prefix),
            scopes(key),
            or_never(&key.last_used_at),
            or_never(&key.expires_at),
        ]);
    }
    table
}
