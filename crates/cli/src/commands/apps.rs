//! `app`: the bundle identifiers that belong to the organization.

use launchway_api::apps::{AppView, CreateApp, DeletedApp};
use launchway_client::{Client, Paging};

use crate::args::app::AppCommand;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::names::label;
use crate::printer::fields::{fields, format_minute};
use crate::printer::table::Table;

/// The largest page that the server returns (`docs/reference/conventions.md#lists`).
const PAGE: u32 = 100;

pub async fn run(command: AppCommand, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let printer = &context.printer;
    match command {
        AppCommand::List(page) => printer.page("app", &client.apps(page.paging()).await?, table),
        AppCommand::Show(app) => {
            let answer = client.app(&id_of(&client, &app.id).await?).await?;
            printer.result(&answer.body, || prose(&answer.value))
        }
        AppCommand::Create { bundle_id, name } => {
            let bundle_id = bundle_id.to_string();
            let answer = client.create_app(&CreateApp { bundle_id, name }).await?;
            printer.result(&answer.body, || prose(&answer.value))
        }
        AppCommand::Delete(app) => {
            let id = id_of(&client, &app.id).await?;
            let question = format!("Remove {} from the list? Its updates are still offered.", app.id);
            context.terminal.require_confirmation(&question, app.yes).await?;
            let answer = client.delete_app(&id).await?;
            printer.result(&answer.body, || remains(&answer.value))
        }
    }
}

/// The deletion, and what it leaves.
fn remains(deleted: &DeletedApp) -> String {
    let DeletedApp { id, status, left } = deleted;
    let Some(left) = left else {
        return format!("{id} is {status}\n");
    };
    let id = label(&left.bundle_id, id);
    let rows = fields(&[
        ("Bundle id", format!("{} (still the organization's)", left.bundle_id)),
        (
            "Updates",
            format!("{}, of which {} are still offered", left.updates, left.offered_updates),
        ),
        ("Builds", left.builds.to_string()),
        ("Submissions", left.submissions.to_string()),
        ("Variables", left.env_vars.to_string()),
        ("Credentials", left.credentials.to_string()),
        ("Deployment keys", left.deployment_keys.to_string()),
    ]);
    format!("{id} is {status}\n\nLeft of the app:\n{rows}")
}

/// The id of the app with this id or bundle identifier.
async fn id_of(client: &Client, named: &str) -> Result<String, Failure> {
    if named.starts_with("app_") {
        return Ok(named.to_owned());
    }
    let mut paging = Paging { limit: PAGE, offset: 0 };
    loop {
        let page = client.apps(paging).await?.value;
        let found = page.items.iter().find(|app| app.bundle_id.eq_ignore_ascii_case(named));
        if let Some(app) = found {
            return Ok(app.id.clone());
        }
        paging.offset += u64::from(PAGE);
        if page.items.is_empty() || i64::try_from(paging.offset).is_ok_and(|offset| offset >= page.total) {
            let message = format!("the organization has no app `{named}`");
            return Err(Failure::new(Exit::NotFound, message).hint("`launchway app list` lists its apps"));
        }
    }
}

fn table(apps: &[AppView]) -> Table {
    let mut table = Table::new(&["Id", "App", "Name", "Since"]);
    for app in apps {
        table.row(vec![
            app.id.clone(),
            app.bundle_id.clone(),
            app.name.clone(),
            format_minute(&app.created_at),
        ]);
    }
    table
}

fn prose(app: &AppView) -> String {
    fields(&[
        ("Id", app.id.clone()),
        ("App", app.bundle_id.clone()),
        ("Name", app.name.clone()),
        ("Since", app.created_at.clone()),
    ])
}
