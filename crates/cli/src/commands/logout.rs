//! `logout`: deletes the saved key. The key itself stays valid.

use serde_json::json;

use crate::context::Context;
use crate::failure::Failure;

pub fn run(context: &Context) -> Result<(), Failure> {
    let service = context.settings.service;
    let forgotten = context.login_file.remove(service)?;
    let json = json!({ "environment": service.as_str(), "loggedOut": forgotten });
    context.printer.result(&json.to_string(), || match forgotten {
        true => format!("Logged out of {}\n", service.as_str()),
        false => format!("Not logged in to {}\n", service.as_str()),
    })?;
    if forgotten {
        context.printer.note("The key itself stays valid until it is revoked");
    }
    Ok(())
}
