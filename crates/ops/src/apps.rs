//! Claims and deletes apps.

use launchway_api::apps::{AppRemains, AppView, CreateApp, DeletedApp};
use launchway_api::words::DoneStatus;
use launchway_domain::app::App;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::AppId;
use launchway_domain::org::normalize_name;
use launchway_store::Claim;

use crate::api_error::ApiError;
use crate::usage;
use crate::write::{NOTHING, Write};

/// A validated request to claim an app.
#[derive(Clone, Debug)]
pub struct AppPlan {
    bundle: BundleId,
    name: String,
}

/// Validates a request for an app.
pub fn plan(request: &CreateApp) -> Result<AppPlan, ApiError> {
    let bundle = bundle_id(&request.bundle_id)?;
    let name = match &request.name {
        Some(name) => {
            normalize_name(name).ok_or_else(|| ApiError::bad("name must have 1 to 100 visible characters"))?
        }
        None => bundle.as_str().chars().take(100).collect(),
    };
    Ok(AppPlan { bundle, name })
}

/// Parses a bundle id from a body.
pub fn bundle_id(text: &str) -> Result<BundleId, ApiError> {
    text.parse()
        .map_err(|error: launchway_domain::bundle_id::BundleIdError| ApiError::bad(format!("bundleId {error}")))
}

/// Claims an app that this organization does not have yet.
pub async fn create(write: &mut Write<'_>, plan: AppPlan) -> Result<App, ApiError> {
    match claim(write, &plan.bundle, &plan.name).await? {
        (app, true) => Ok(app),
        (app, false) => Err(ApiError::bad(format!(
            "The app {} already exists with the id {}",
            app.bundle_id, app.id
        ))),
    }
}

/// Claims a bundle id unless the organization has it; returns whether it was claimed now.
pub async fn claim(write: &mut Write<'_>, bundle: &BundleId, name: &str) -> Result<(App, bool), ApiError> {
    let app = App {
        id: write.app().random.id(write.now()),
        org_id: write.org_id(),
        bundle_id: bundle.as_str().to_owned(),
        name: name.to_owned(),
        created_at: write.now(),
    };
    if !write.org().has_claimed(bundle).await? {
        // Ownership is checked first: a caller who cannot have it anyway does not learn about a limit.
        if write.org().is_foreign_app(bundle).await? {
            return Err(foreign(bundle));
        }
        check_form(bundle)?;
        usage::room_for_app(write).await?;
    }
    match write.org().claim_app(bundle, &app).await? {
        Claim::Claimed(app) => {
            write
                .audit("app.create", app.id, NOTHING, Some(&AppView::of(&app)))
                .await?;
            Ok((app, true))
        }
        Claim::AlreadyOwned(app) => Ok((app, false)),
        Claim::Foreign => Err(foreign(bundle)),
    }
}

/// Refuses a new app whose bundle id no store would take. Apps that were claimed before keep theirs.
pub fn check_form(bundle: &BundleId) -> Result<(), ApiError> {
    match bundle.is_reverse_domain() {
        true => Ok(()),
        false => Err(ApiError::bad(
            "bundleId must be a reverse domain name such as com.example.app: two or more parts that begin with a letter \
             or digit",
        )),
    }
}

/// The spelling of a bundle id that belongs to the organization or to nobody. Claims nothing.
pub async fn available_bundle_id(write: &mut Write<'_>, bundle: &BundleId) -> Result<String, ApiError> {
    if let Some(app) = write.org().app_by_bundle(bundle).await? {
        return Ok(app.bundle_id);
    }
    if write.org().is_foreign_app(bundle).await? {
        return Err(foreign(bundle));
    }
    Ok(bundle.as_str().to_owned())
}

fn foreign(bundle: &BundleId) -> ApiError {
    ApiError::Forbidden(format!(
        "The bundle id {bundle} belongs to another organization. The operator of this server can transfer it."
    ))
}

/// Deletes an app from the list; returns what is left of it.
pub async fn delete(write: &mut Write<'_>, id: AppId) -> Result<DeletedApp, ApiError> {
    let now = write.now();
    let app = write.org().app(id).await?.ok_or(ApiError::NoSuch("app"))?;
    write.org().delete_app(id, now).await?;
    write.audit("app.delete", id, Some(&AppView::of(&app)), NOTHING).await?;
    let left = write.org().app_holdings(&bundle_id(&app.bundle_id)?).await?;
    Ok(DeletedApp {
        id: id.to_string(),
        status: DoneStatus::Deleted.into(),
        left: Some(AppRemains {
            bundle_id: app.bundle_id,
            updates: left.updates,
            offered_updates: left.offered_updates,
            builds: left.builds,
            submissions: left.submissions,
            env_vars: left.env_vars,
            credentials: left.credentials,
            deployment_keys: left.deployment_keys,
        }),
    })
}
