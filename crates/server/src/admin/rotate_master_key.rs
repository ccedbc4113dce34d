//! Makes a new master key.

use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::master_key_rotation::rotate;
use serde_json::{Value, json};

pub async fn run(app: &App) -> Result<(Value, String), ApiError> {
    let keys = rotate(app).await?;
    let file = app.config.master_key_file.display();
    let words = format!(
        "{file} holds a new master key now, and {keys} keys are sealed with it.\nCopy it to every other server of this \
         database, and keep it with your backups; backups made before need the old one."
    );
    Ok((json!({"keys": keys, "masterKeyFile": file.to_string()}), words))
}
