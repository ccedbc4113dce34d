//! Makes a new master key.

use serde_json::{Value, json};

use crate::api_error::ApiError;
use crate::app::App;
use crate::ops::master_key_rotation::rotate;

pub async fn run(app: &App) -> Result<(Value, String), ApiError> {
    let keys = rotate(app).await?;
    let file = app.config.master_key_file.display();
    let words = format!(
        "{file} holds a new master key now, and {keys} keys are sealed with it.\nCopy it to every other server of this \
         database, and keep it with your backups; backups made before need the old one."
    );
    Ok((json!({"keys": keys, "masterKeyFile": file.to_string()}), words))
}
