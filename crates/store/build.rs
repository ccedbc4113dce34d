//! Lists the files of `migrations`, so that the program embeds them. The driver's own macro for this would make cargo build the
//! drivers a second time, for the compiler.

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=migrations");
    let mut code = String::new();
    for (database, constant) in [("sqlite", "SQLITE"), ("postgres", "POSTGRES")] {
        writeln!(code, "pub(crate) const {constant}: &[File] = &[")?;
        for name in names(&Path::new("migrations").join(database))? {
            let (version, description) = name
                .strip_suffix(".sql")
                .and_then(|name| name.split_once('_'))
                .ok_or_else(|| format!("{name} must be named NUMBER_description.sql"))?;
            let version: i64 = version.parse()?;
            let description = description.replace('_', " ");
            let path = format!("/migrations/{database}/{name}");
            writeln!(
                code,
                "    ({version}, {description:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {path:?}))),"
            )?;
        }
        writeln!(code, "];")?;
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "cargo tells a build script its folder this way"
    )]
    let folder = std::env::var("OUT_DIR")?;
    fs::write(Path::new(&folder).join("migrations.rs"), code)?;
    Ok(())
}

/// The names in a folder, sorted.
fn names(folder: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        names.push(
            name.into_string()
                .map_err(|name| format!("{} is not UTF-8", name.display()))?,
        );
    }
    names.sort();
    Ok(names)
}
