//! Checks the audit logs.

use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::audit;
use serde_json::{Value, json};

use crate::command_error::CommandError;

pub async fn run(app: &App) -> Result<(Value, String), CommandError> {
    let check = audit::verify(app).await?;
    if !check.problems.is_empty() {
        let problems = check.problems.join("\n  ");
        return Err(ApiError::bad(format!("The audit log is damaged:\n  {problems}")).into());
    }
    Ok((
        json!({"ok": true, "logs": check.chains, "lines": check.lines}),
        format!("All {} lines of {} audit logs are unchanged", check.lines, check.chains),
    ))
}
