//! `update list`: a page of the updates.

use launchway_api::lists::Page;
use launchway_api::updates::UpdateView;
use launchway_client::UpdateFilter;

use crate::args::update::ListArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::printer::fields::{format_minute, page_summary};
use crate::printer::table::Table;

pub async fn run(arguments: ListArgs, context: &Context) -> Result<(), Failure> {
    let filter = UpdateFilter {
        bundle_id: arguments.bundle_id,
        platform: arguments.platform.map(|platform| platform.to_string()),
        configuration: arguments.configuration,
        status: arguments.status,
        ..UpdateFilter::default()
    };
    let answer = context.client()?.updates(&filter, arguments.page.paging()).await?;
    context
        .printer
        .result(&answer.body, || context.printer.table(&table(&answer.value)))?;
    context.printer.note(&page_summary("update", &answer.value));
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
            update.status.to_string(),
            update.bundle_id.clone(),
            update.platform.to_string(),
            update.version.clone(),
            update.build_number.clone(),
            update.configuration.clone().unwrap_or_else(|| "all".to_owned()),
            format!("{} %", update.rollout),
            format_minute(&update.created_at),
        ]);
    }
    table
}
