//! Creates and deletes deployment keys of CodePush's clients (`docs/reference/foreign-clients.md#deployment-keys`).

use launchway_api::deployment_keys::{CreateDeploymentKey, DeploymentKeyView};
use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;
use launchway_domain::id::DeploymentKeyId;
use launchway_domain::platform::Platform;
use launchway_domain::release::{DeploymentKey, MAX_DEPLOYMENT_KEYS};
use launchway_foreign::codepush::is_deployment_key;
use launchway_store::Paging;

use crate::api_error::ApiError;
use crate::apps;
use crate::updates::publish;
use crate::write::{NOTHING, Write};

const NONE: Paging = Paging { limit: 0, offset: 0 };
const NO_KEY: ApiError = ApiError::NoSuch("deployment key");

/// A validated request for a deployment key.
#[derive(Clone, Debug)]
pub struct DeploymentKeyPlan {
    bundle: BundleId,
    platform: Platform,
    configuration: Option<Configuration>,
    key: Option<String>,
}

/// Validates a request for a deployment key.
///
/// # Errors
/// A field has another form.
pub fn plan(request: &CreateDeploymentKey) -> Result<DeploymentKeyPlan, ApiError> {
    let platform = request.platform.checked();
    let configuration = request.configuration.as_deref().map(publish::configuration);
    if request.key.as_deref().is_some_and(|key| !is_deployment_key(key)) {
        return Err(ApiError::bad("key must be 10 to 100 letters, digits, `-` and `_`"));
    }
    Ok(DeploymentKeyPlan {
        bundle: apps::bundle_id(&request.bundle_id)?,
        platform: platform.map_err(|unknown| ApiError::bad(unknown.to_string()))?,
        configuration: configuration.transpose()?,
        key: request.key.clone(),
    })
}

/// Creates a key of an app, which the organization claims if it does not have it.
///
/// # Errors
/// The app has the key already, or too many of them.
pub async fn create(write: &mut Write<'_>, plan: DeploymentKeyPlan) -> Result<DeploymentKey, ApiError> {
    // Every node reads the keys of the app again; the lock precedes the claim, as when publishing.
    write.touch_updates(&plan.bundle).await?;
    let (app, _) = apps::claim(write, &plan.bundle, plan.bundle.as_str()).await?;
    let present = write.org().deployment_keys(Some(&plan.bundle), NONE).await?.total;
    if present >= MAX_DEPLOYMENT_KEYS {
        return Err(ApiError::bad(format!(
            "An app has at most {MAX_DEPLOYMENT_KEYS} deployment keys. Delete one that no app uses."
        )));
    }
    let key = DeploymentKey {
        id: write.app().random.id(write.now()),
        org_id: write.org_id(),
        bundle_id: app.bundle_id,
        platform: plan.platform,
        configuration: plan.configuration,
        key: plan.key.unwrap_or_else(|| write.app().random.token()),
        created_by: write.actor_text(),
        created_at: write.now(),
    };
    if !write.org().create_deployment_key(&plan.bundle, &key).await? {
        return Err(ApiError::bad(format!(
            "The app {} already has this deployment key",
            key.bundle_id
        )));
    }
    let view = DeploymentKeyView::of(&key);
    write
        .audit("deployment_key.create", key.id, NOTHING, Some(&view))
        .await?;
    Ok(key)
}

/// Reads a key and takes the lock under which the keys of its app change.
///
/// # Errors
/// There is no such key.
pub async fn lock(write: &mut Write<'_>, id: DeploymentKeyId) -> Result<DeploymentKey, ApiError> {
    let key = write.org().deployment_key(id).await?.ok_or(NO_KEY)?;
    write.touch_updates(&apps::bundle_id(&key.bundle_id)?).await?;
    Ok(key)
}

/// Deletes a key; returns what it was. Apps that send it get no more updates.
///
/// # Errors
/// There is no such key.
pub async fn delete(write: &mut Write<'_>, id: DeploymentKeyId) -> Result<DeploymentKey, ApiError> {
    let key = lock(write, id).await?;
    if !write.org().delete_deployment_key(id).await? {
        return Err(NO_KEY);
    }
    let view = DeploymentKeyView::of(&key);
    write.audit("deployment_key.delete", id, Some(&view), NOTHING).await?;
    Ok(key)
}
