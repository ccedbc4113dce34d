//! `runner list`, `revoke` and `token`: the administration of runners.

use launchway_api::lists::Page;
use launchway_api::runners::RunnerView;

use crate::args::resource::PageArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::printer::fields::{format_minute, page_summary};
use crate::printer::table::Table;

/// A page of the runners.
pub async fn list(page: PageArgs, context: &Context) -> Result<(), Failure> {
    let answer = context.client()?.runners(page.paging()).await?;
    context
        .printer
        .result(&answer.body, || context.printer.table(&table(&answer.value)))?;
    context.printer.note(&page_summary("runner", &answer.value));
    Ok(())
}

fn table(page: &Page<RunnerView>) -> Table {
    let mut table = Table::new(&["Id", "Status", "Name", "Labels", "Slots", "For", "Version", "Last seen"]);
    for runner in &page.items {
        let serves = if runner.shared { "everybody" } else { "organization" };
        table.row(vec![
            runner.id.clone(),
            runner.status.to_string(),
            runner.name.clone(),
            runner.labels.join(" "),
            runner.slots.to_string(),
            serves.to_owned(),
            runner.version.clone(),
            format_minute(&runner.last_seen_at),
        ]);
    }
    table
}

/// Revokes the access of a runner.
pub async fn revoke(id: &str, yes: bool, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let question = async || {
        let runner = client.runner(id).await?.value;
        let name = runner.name;
        Ok(format!(
            "Revoke {name} ({id})? To work again, it must be enrolled again."
        ))
    };
    context.terminal.require_confirmation_of(yes, question).await?;
    let answer = client.revoke_runner(id).await?;
    context.printer.result(&answer.body, || {
        format!("{} is {}.\n", answer.value.id, answer.value.status)
    })
}

/// Creates a token that enrolls one runner.
pub async fn token(context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let answer = client.create_runner_token().await?;
    let server = client.base().to_string();
    let server = server.strip_suffix("/api").unwrap_or(&server);
    // The token is displayed once: a repeated request whose first response was lost does not return it.
    let token = answer.value.token.as_deref().ok_or_else(|| {
        Failure::failed("a token was created, but the response that shows it was lost")
            .hint("run the command again to create another")
    })?;
    context.printer.result(&answer.body, || format!("{token}\n"))?;
    context.printer.note(&format!(
        "It enrolls one runner and is valid until {}. On the runner's machine:\n  LAUNCHWAY_RUNNER_TOKEN={{the token}} launchway runner --url {server}",
        answer.value.expires_at
    ));
    Ok(())
}
