//! Files in the user's configuration directory that nobody else can read: logins, private keys, and what was verified.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::environment::Environment;
use crate::failure::Failure;

/// `launchway` below `XDG_CONFIG_HOME`, or else below `.config` in the home directory. `None` if neither is known.
pub fn directory(environment: &Environment) -> Option<PathBuf> {
    // The XDG standard requires that a relative path is ignored.
    let config_home = environment.path("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
    let home = environment.path("HOME").or_else(|| environment.path("USERPROFILE"));
    let directory = config_home.or_else(|| home.map(|home| home.join(".config")));
    directory.map(|directory| directory.join("launchway"))
}

/// Writes a new file and renames it over the old one, so that readers never see a partial file. Creates the directory.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let unwritable = |error: io::Error| Failure::failed(format!("cannot write {}: {error}", path.display()));
    let directory = path
        .parent()
        .ok_or_else(|| unwritable(io::ErrorKind::NotFound.into()))?;
    create_private(directory).map_err(unwritable)?;
    // A temporary file is readable only by its owner from the start (mode 0600).
    let mut file = NamedTempFile::new_in(directory).map_err(unwritable)?;
    file.write_all(text.as_bytes())
        .and_then(|()| file.as_file().sync_all())
        .map_err(unwritable)?;
    file.persist(path).map_err(|error| unwritable(error.error))?;
    Ok(())
}

/// Writes a file that does not exist yet, readable only by its owner.
pub fn create(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Failure> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options
        .open(path)
        .and_then(|mut file| file.write_all(content.as_ref()).and_then(|()| file.sync_all()));
    written.map_err(|error| Failure::failed(format!("cannot write {}: {error}", path.display())))
}

/// Whether others can read the file.
#[cfg(unix)]
pub fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o077 != 0)
}

/// Whether others can read the file.
#[cfg(not(unix))]
pub fn is_open_to_others(_path: &Path) -> bool {
    false
}

#[cfg(unix)]
fn create_private(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

#[cfg(not(unix))]
fn create_private(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn only_its_owner_can_read_a_file() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().expect("a temporary directory");
        let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        let kept = home.path().join("below/kept");
        write(&kept, "one").expect("space");
        write(&kept, "two").expect("space");
        assert_eq!(fs::read_to_string(&kept).expect("it is there"), "two");
        let once = home.path().join("once");
        create(&once, "one").expect("space");
        create(&once, "two").expect_err("it exists");
        assert_eq!(fs::read_to_string(&once).expect("it is there"), "one");
        assert_eq!((mode(&kept), mode(&once)), (0o600, 0o600));
        assert_eq!(mode(&home.path().join("below")), 0o700);
        assert!(!is_open_to_others(&kept));
        fs::set_permissions(&kept, fs::Permissions::from_mode(0o640)).expect("it is ours");
        assert!(is_open_to_others(&kept));
    }
}
