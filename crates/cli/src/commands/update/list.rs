//! `update list`: a page of the updates.

use launchway_api::lists::Page;
use launchway_api::updates::UpdateView;
use launchway_client::UpdateFilter;

use crate::args::update::ListArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::printer::table::Table;

pub async fn run(arguments: ListArgs, context: &Context) -> Result<(), Failure> {
    let filter = UpdateFilter {
        bundle_id: arguments.bundle_id,
        platform: arguments.platform.map(|platform| platform.to_string()),
        configuration: arguments.configuration,
        status: arguments.status,
        limit: Some(arguments.limit),
        offset: Some(arguments.offset),
    };
    let answer = context.client()?.updates(&filter).await?;
    context
        .printer
        .result(&answer.body, || context.printer.table(&table(&answer.value)))?;
    context.printer.note(&what_is_shown(&answer.value));
    Ok(())
}

fn table(page: &Page<UpdateView>) -> Table {
    let mut table = Table::new(&[
        "Id",
        "Status",
        "App",
        "Platform",
        "Version",
        "Build",
        "Configuration",
        "Rollout",
        "Published",
    ]);
    for update in &page.items {
        table.row(vec![
            update.id.clone(),
            update.status.clone(),
            update.bundle_id.clone(),
            update.platform.to_string(),
            update.version.clone(),
            update.build_number.clone(),
            update.configuration.clone().unwrap_or_else(|| "all".to_owned()),
            format!("{} %", update.rollout),
            to_the_minute(&update.created_at),
        ]);
    }
    table
}

/// `2026-11-20T10:00:00.000Z` as `2026-11-20 10:00`.
fn to_the_minute(time: &str) -> String {
    time.get(..16).unwrap_or(time).replace('T', " ")
}

fn what_is_shown(page: &Page<UpdateView>) -> String {
    let shown = i64::try_from(page.items.len()).unwrap_or(i64::MAX);
    let next = page.offset.saturating_add(shown);
    match (page.total, shown) {
        (0, _) => "No updates.".to_owned(),
        (total, 0) => format!("No updates here; there are {total}."),
        (total, _) if next < total => format!("{shown} of {total} updates; --offset {next} shows the next."),
        (1, _) => "1 update.".to_owned(),
        (total, _) if shown == total => format!("{total} updates."),
        (total, _) => format!("The last {shown} of {total} updates."),
    }
}
