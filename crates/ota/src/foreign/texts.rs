//! The texts that are stored with updates for clients of Expo: read from the database, or from the rows of a snapshot.

use std::collections::HashMap;

use launchway_domain::id::UpdateId;
use launchway_store::{StoreError, System};

use crate::snapshot::{ExpoText, TextKind};

/// Where texts come from.
pub(super) enum Texts<'s, 't> {
    /// The database.
    Database {
        /// Reads it.
        system: &'s mut System<'t>,
        /// Gets what is read, for a snapshot.
        read: Option<&'s mut Vec<ExpoText>>,
    },
    /// Rows.
    Rows(HashMap<(UpdateId, TextKind), String>),
}

impl Texts<'_, '_> {
    /// The text of an update.
    pub(super) async fn get(&mut self, id: UpdateId, kind: TextKind) -> Result<Option<String>, StoreError> {
        let (system, read) = match self {
            Texts::Database { system, read } => (system, read),
            Texts::Rows(rows) => return Ok(rows.get(&(id, kind)).cloned()),
        };
        let text = match kind {
            TextKind::Export => system.export_of_update(id).await?,
            TextKind::Signed => system.signed_of_update(id).await?.0,
            TextKind::Undo => system.signed_of_update(id).await?.1,
        };
        if let (Some(read), Some(text)) = (read, &text) {
            read.push(ExpoText {
                update_id: id,
                kind,
                text: text.clone(),
            });
        }
        Ok(text)
    }
}
