//! Sets and deletes environment variables (`docs/reference/environment.md#setting-a-variable`).

use launchway_api::env_vars::{EnvVarView, SetEnvVar};
use launchway_api::open::{self, Open};
use launchway_api::secret::SecretText;
use launchway_domain::build::git;
use launchway_domain::configuration::Configuration;
use launchway_domain::env_var::{
    EnvVar, EnvVarKind, EnvVarScope, MAX_CONFIGURATIONS, MAX_VALUE_SIZE, SIGNING_KEY, Visibility, is_name, is_path,
};
use launchway_domain::id::{EnvVarId, OrgId};
use launchway_domain::words::Word;
use launchway_store::{Paging, SealedEnvVar, Tx};
use launchway_vault::Place;

use crate::api_error::ApiError;
use crate::app::App;
use crate::apps;
use crate::write::{NOTHING, Write};

/// The maximum number of variables of one organization.
const MAX_VARIABLES: i64 = 1000;
const NOBODY: Paging = Paging { limit: 0, offset: 0 };

/// A validated request for a variable.
#[derive(Clone, Debug)]
pub struct EnvVarPlan {
    name: String,
    value: SecretText,
    kind: EnvVarKind,
    path: Option<String>,
    visibility: Visibility,
    scope: EnvVarScope,
}

/// Validates a request for a variable.
pub fn plan(request: SetEnvVar) -> Result<EnvVarPlan, ApiError> {
    if !is_name(&request.name) {
        return Err(ApiError::bad(
            "name must be 1 to 255 letters, digits and `_`, and not start with a digit",
        ));
    }
    if request.name == SIGNING_KEY {
        return Err(ApiError::bad(format!(
            "name must not be {SIGNING_KEY}: anybody who controls this server would have the key. Sign updates on your own computer, \
             or in CI that this server does not control."
        )));
    }
    let value = request.value.reveal();
    if value.len() > MAX_VALUE_SIZE {
        return Err(ApiError::bad(format!(
            "value has {} bytes, but must have at most {MAX_VALUE_SIZE}",
            value.len()
        )));
    }
    if value.contains('\0') {
        return Err(ApiError::bad(
            "value must not contain a NUL character, because environment variables cannot",
        ));
    }
    if request.name == git::URLS {
        git::AllowedRepositories::parse(value).map_err(|problem| ApiError::bad(format!("value: {problem}")))?;
    }
    let kind = word("kind", request.kind.as_ref(), EnvVarKind::Variable)?;
    let path = request.path.filter(|path| !path.is_empty());
    match (kind, &path) {
        (EnvVarKind::Variable, Some(_)) => return Err(ApiError::bad("path is only for kind file")),
        (EnvVarKind::File, None) => {
            return Err(ApiError::bad(
                "path is required for kind file: the path of the file in the workspace",
            ));
        }
        (EnvVarKind::File, Some(path)) if !is_path(path) => {
            return Err(ApiError::bad(
                "path must be relative to the build's workspace, with `/`, without `.` and `..` as parts",
            ));
        }
        _ => {}
    }
    Ok(EnvVarPlan {
        visibility: word("visibility", request.visibility.as_ref(), Visibility::Secret)?,
        scope: scope(request.bundle_id, request.configurations, request.platforms)?,
        name: request.name,
        value: request.value,
        kind,
        path,
    })
}

fn word<T: Word>(field: &str, given: Option<&Open<T>>, default: T) -> Result<T, ApiError> {
    match given.filter(|given| !given.as_str().is_empty()) {
        Some(given) => given
            .checked()
            .map_err(|unknown| ApiError::bad(format!("{field} {unknown}"))),
        None => Ok(default),
    }
}

fn scope(
    bundle_id: Option<String>,
    configurations: Option<Vec<String>>,
    platforms: Option<Vec<open::Platform>>,
) -> Result<EnvVarScope, ApiError> {
    // An empty one is a mistake, such as an unset variable of a script: it must not become a scope of every app.
    let bundle = bundle_id.as_deref();
    let label = |text: &String| {
        Configuration::parse(text).map_err(|error| ApiError::bad(format!("configurations: each {error}")))
    };
    let platform = |given: &open::Platform| {
        given
            .checked()
            .map_err(|_| ApiError::bad("platforms: each must be ios, android or visionos"))
    };
    let configurations = configurations.unwrap_or_default();
    if configurations.len() > MAX_CONFIGURATIONS {
        return Err(ApiError::bad(format!(
            "configurations must have at most {MAX_CONFIGURATIONS} names"
        )));
    }
    Ok(EnvVarScope::new(
        bundle.map(apps::bundle_id).transpose()?,
        configurations.iter().map(label).collect::<Result<_, _>>()?,
        platforms
            .unwrap_or_default()
            .iter()
            .map(platform)
            .collect::<Result<_, _>>()?,
    ))
}

/// The place under which a value is sealed. It includes the visibility: a secret does not open as a plain value,
/// whatever its row says.
fn place(variable: &EnvVar) -> Place<'static> {
    let field = match variable.visibility {
        Visibility::Plain => "plain value",
        Visibility::Secret => "secret value",
    };
    Place::new(variable.id, field)
}

/// The variable that a plan would replace. Locks the organization's variables until this change ends.
pub async fn find_existing(write: &mut Write<'_>, plan: &EnvVarPlan) -> Result<Option<EnvVar>, ApiError> {
    write.org().lock().await?;
    let kept = write.org().env_var_at(&plan.name, &plan.scope).await?;
    Ok(kept.map(|kept| kept.variable))
}

/// Sets a variable; returns whether it is new.
pub async fn set(write: &mut Write<'_>, plan: EnvVarPlan) -> Result<(EnvVarView, bool), ApiError> {
    write.org().lock().await?;
    let now = write.now();
    let before = write.org().env_var_at(&plan.name, &plan.scope).await?;
    if before.is_none() && write.org().env_vars(NOBODY).await?.total >= MAX_VARIABLES {
        return Err(ApiError::bad(format!(
            "This organization has the maximum of {MAX_VARIABLES} environment variables. Delete one first."
        )));
    }
    let before = before.map(|old| old.variable);
    let variable = EnvVar {
        id: before.as_ref().map_or_else(|| write.app().random.id(now), |old| old.id),
        created_by: before
            .as_ref()
            .map_or_else(|| write.actor_text(), |old| old.created_by.clone()),
        created_at: before.as_ref().map_or(now, |old| old.created_at),
        updated_at: now,
        name: plan.name,
        kind: plan.kind,
        path: plan.path,
        visibility: plan.visibility,
        scope: plan.scope,
    };
    let sealed = write.seal(&place(&variable), plan.value.reveal().as_bytes()).await?;
    let new = SealedEnvVar { variable, sealed };
    let action = match &before {
        Some(_) => {
            write.org().replace_env_var(&new).await?;
            "env.change"
        }
        None => {
            write.org().create_env_var(&new).await?;
            "env.create"
        }
    };
    // The log records that a value was set, but never the value, not even a plain one.
    let without_value = |variable: &EnvVar| EnvVarView::of(variable, None);
    let old = before.as_ref().map(without_value);
    write
        .audit(
            action,
            new.variable.id,
            old.as_ref(),
            Some(&without_value(&new.variable)),
        )
        .await?;
    let shown = (new.variable.visibility == Visibility::Plain).then(|| plan.value.reveal().to_owned());
    Ok((EnvVarView::of(&new.variable, shown), before.is_none()))
}

/// Deletes a variable.
pub async fn delete(write: &mut Write<'_>, id: EnvVarId) -> Result<(), ApiError> {
    let none = || ApiError::NoSuch("environment variable");
    let old = write.org().env_var(id).await?.ok_or_else(none)?.variable;
    if !write.org().delete_env_var(id).await? {
        return Err(none());
    }
    write
        .audit("env.delete", id, Some(&EnvVarView::of(&old, None)), NOTHING)
        .await
}

/// The API's view of a variable; a plain one includes its value.
pub async fn view(app: &App, tx: &mut Tx, org: OrgId, kept: &SealedEnvVar) -> Result<EnvVarView, ApiError> {
    let value = match kept.variable.visibility {
        Visibility::Secret => None,
        Visibility::Plain => {
            let bytes = app.vault.unseal(tx, org, &place(&kept.variable), &kept.sealed).await?;
            let text = std::str::from_utf8(&bytes).map_err(|error| ApiError::Internal(error.to_string()))?;
            Some(text.to_owned())
        }
    };
    Ok(EnvVarView::of(&kept.variable, value))
}

/// The value of a variable for a build. Opening a secret is audited.
pub async fn open_for_build(
    write: &mut Write<'_>,
    kept: &SealedEnvVar,
    what_for: &str,
) -> Result<SecretText, ApiError> {
    let place = place(&kept.variable);
    let bytes = match kept.variable.visibility {
        Visibility::Secret => write.open_secret(&place, &kept.sealed, what_for).await?,
        Visibility::Plain => write.open_plain(&place, &kept.sealed).await?,
    };
    let text = std::str::from_utf8(&bytes).map_err(|error| ApiError::Internal(error.to_string()))?;
    Ok(SecretText::new(text.to_owned()))
}
