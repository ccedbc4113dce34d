//! Prints the JSON Schema of `launchway.toml`: `cargo run -q -p launchway-project --example schema`.

use std::io::Write;

fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(launchway_project::file::schema::text().as_bytes())
}
