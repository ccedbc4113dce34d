//! `build list`: a page of the builds.

use launchway_api::builds::BuildView;
use launchway_api::lists::Page;
use launchway_client::BuildFilter;

use crate::args::build::BuildListArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::printer::fields::{format_minute, page_summary};
use crate::printer::table::Table;

pub async fn run(arguments: BuildListArgs, context: &Context) -> Result<(), Failure> {
    let filter = BuildFilter {
        status: arguments.status,
        platform: arguments.platform.map(|platform| platform.to_string()),
        bundle_id: arguments.bundle_id,
        configuration: arguments.configuration,
        branch: arguments.branch,
    };
    let answer = context.client()?.builds(&filter, arguments.page.paging()).await?;
    context
        .printer
        .result(&answer.body, || context.printer.table(&table(&answer.value)))?;
    context.printer.note(&page_summary("build", &answer.value));
    Ok(())
}

fn table(page: &Page<BuildView>) -> Table {
    let mut table = Table::new(&[
        "Id", "Status", "App", "Platform", "Version", "Build", "Profile", "Branch", "Created",
    ]);
    for build in &page.items {
        let branch = build.git.as_ref().and_then(|git| git.branch.clone());
        table.row(vec![
            build.id.clone(),
            build.status.to_string(),
            build.bundle_id.clone(),
            build.platform.to_string(),
            build.version.clone().unwrap_or_default(),
            build.build_number.clone().unwrap_or_default(),
            build.profile.clone().unwrap_or_default(),
            branch.unwrap_or_default(),
            format_minute(&build.created_at),
        ]);
    }
    table
}
