//! Environment variables of builds: their values are sealed.

use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;
use launchway_domain::env_var::{EnvVar, EnvVarScope};
use launchway_domain::id::EnvVarId;
use launchway_domain::platform::Platform;

use crate::sql::typed;
use crate::{Org, Paging, Rows, StoreError};

/// An environment variable with its sealed value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedEnvVar {
    /// The record.
    pub variable: EnvVar,
    /// The value, sealed.
    pub sealed: String,
}

row! {
    struct EnvVarRow {
        id: String,
        name: String,
        kind: String,
        path: Option<String>,
        visibility: String,
        bundle_id: String,
        configurations: String,
        platforms: String,
        sealed: String,
        created_by: String,
        created_at: i64,
        updated_at: i64,
    }
}

impl EnvVarRow {
    fn read(self) -> Result<SealedEnvVar, StoreError> {
        let bundle_id = match self.bundle_id.as_str() {
            "" => None,
            text => Some(typed("env_vars.bundle_id", text)?),
        };
        let scope = EnvVarScope {
            bundle_id,
            configurations: list("env_vars.configurations", &self.configurations)?,
            platforms: list("env_vars.platforms", &self.platforms)?,
        };
        Ok(SealedEnvVar {
            variable: EnvVar {
                id: typed("env_vars.id", &self.id)?,
                kind: typed("env_vars.kind", &self.kind)?,
                visibility: typed("env_vars.visibility", &self.visibility)?,
                name: self.name,
                path: self.path,
                scope,
                created_by: self.created_by,
                created_at: self.created_at,
                updated_at: self.updated_at,
            },
            sealed: self.sealed,
        })
    }
}

fn list<T: std::str::FromStr>(column: &'static str, text: &str) -> Result<Vec<T>, StoreError> {
    text.split(',')
        .filter(|part| !part.is_empty())
        .map(|part| typed(column, part))
        .collect()
}

/// The three columns of a scope.
fn columns(scope: &EnvVarScope) -> [String; 3] {
    let configurations: Vec<&str> = scope.configurations.iter().map(Configuration::as_str).collect();
    let platforms: Vec<&str> = scope
        .platforms
        .iter()
        .map(|platform| Platform::as_str(*platform))
        .collect();
    let bundle = scope.bundle_id.as_ref().map(|bundle| bundle.key());
    [
        bundle.unwrap_or_default(),
        configurations.join(","),
        platforms.join(","),
    ]
}

impl Org<'_> {
    /// Stores a new variable. Its name and scope must be free (see [`Org::env_var_at`]).
    pub async fn create_env_var(&mut self, new: &SealedEnvVar) -> Result<(), StoreError> {
        let variable = &new.variable;
        let [bundle_key, configurations, platforms] = columns(&variable.scope);
        execute!(
            self.tx,
            "INSERT INTO env_vars (id, org_id, name, kind, path, visibility, bundle_key, bundle_id, configurations, \
             platforms, sealed, created_by, created_at, updated_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
            variable.id.to_string(),
            &self.id,
            &variable.name,
            variable.kind.as_str(),
            variable.path.as_deref(),
            variable.visibility.as_str(),
            bundle_key,
            variable.scope.bundle_id.as_ref().map_or("", BundleId::as_str),
            configurations,
            platforms,
            &new.sealed,
            &variable.created_by,
            variable.created_at,
            variable.updated_at
        )?;
        Ok(())
    }

    /// Replaces the value of a variable and its metadata; name and scope stay.
    pub async fn replace_env_var(&mut self, new: &SealedEnvVar) -> Result<(), StoreError> {
        let variable = &new.variable;
        execute!(
            self.tx,
            "UPDATE env_vars SET kind = $3, path = $4, visibility = $5, sealed = $6, updated_at = $7 \
             WHERE org_id = $1 AND id = $2",
            &self.id,
            variable.id.to_string(),
            variable.kind.as_str(),
            variable.path.as_deref(),
            variable.visibility.as_str(),
            &new.sealed,
            variable.updated_at
        )?;
        Ok(())
    }

    /// One variable.
    pub async fn env_var(&mut self, id: EnvVarId) -> Result<Option<SealedEnvVar>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            EnvVarRow,
            "SELECT id, name, kind, path, visibility, bundle_id, configurations, platforms, sealed, created_by, \
             created_at, updated_at FROM env_vars WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string()
        )?;
        row.map(EnvVarRow::read).transpose()
    }

    /// The variable with this name and exactly this scope.
    pub async fn env_var_at(&mut self, name: &str, scope: &EnvVarScope) -> Result<Option<SealedEnvVar>, StoreError> {
        let [bundle_key, configurations, platforms] = columns(scope);
        let row = fetch_optional!(
            self.tx,
            EnvVarRow,
            "SELECT id, name, kind, path, visibility, bundle_id, configurations, platforms, sealed, created_by, \
             created_at, updated_at FROM env_vars WHERE org_id = $1 AND name = $2 AND bundle_key = $3 \
             AND configurations = $4 AND platforms = $5",
            &self.id,
            name,
            bundle_key,
            configurations,
            platforms
        )?;
        row.map(EnvVarRow::read).transpose()
    }

    /// The variables, newest first.
    pub async fn env_vars(&mut self, paging: Paging) -> Result<Rows<SealedEnvVar>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            EnvVarRow,
            "SELECT id, name, kind, path, visibility, bundle_id, configurations, platforms, sealed, created_by, \
             created_at, updated_at FROM env_vars WHERE org_id = $1 ORDER BY id DESC LIMIT $2 OFFSET $3",
            &self.id,
            paging.limit,
            paging.offset
        )?;
        let (total,) = fetch_one!(
            self.tx,
            (i64,),
            "SELECT COUNT(*) FROM env_vars WHERE org_id = $1",
            &self.id
        )?;
        Rows::read(rows, total, EnvVarRow::read)
    }

    /// Deletes a variable; returns false if there is none.
    pub async fn delete_env_var(&mut self, id: EnvVarId) -> Result<bool, StoreError> {
        let deleted = execute!(
            self.tx,
            "DELETE FROM env_vars WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string()
        )?;
        Ok(deleted == 1)
    }
}
