//! `submit list`: a page of the submissions.

use launchway_api::lists::Page;
use launchway_api::submissions::SubmissionView;
use launchway_client::SubmissionFilter;

use crate::args::submit::SubmissionListArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::printer::fields::{format_minute, page_summary};
use crate::printer::table::Table;

pub async fn run(arguments: SubmissionListArgs, context: &Context) -> Result<(), Failure> {
    let filter = SubmissionFilter {
        status: arguments.status,
        platform: arguments.platform.map(|platform| platform.to_string()),
        bundle_id: arguments.bundle_id,
        build_id: arguments.build,
    };
    let answer = context.client()?.submissions(&filter, arguments.page.paging()).await?;
    context
        .printer
        .result(&answer.body, || context.printer.table(&table(&answer.value)))?;
    context.printer.note(&page_summary("submission", &answer.value));
    Ok(())
}

fn table(page: &Page<SubmissionView>) -> Table {
    let mut table = Table::new(&[
        "Id",
        "Status",
        "App",
        "Platform",
        "Destination",
        "Version",
        "Build",
        "Rollout",
        "Created",
    ]);
    for submission in &page.items {
        table.row(vec![
            submission.id.clone(),
            submission.status.to_string(),
            submission.bundle_id.clone(),
            submission.platform.to_string(),
            submission.destination.to_string(),
            submission.version.clone().unwrap_or_default(),
            submission.build_number.clone().unwrap_or_default(),
            format!("{} %", submission.rollout),
            format_minute(&submission.created_at),
        ]);
    }
    table
}
