//! Cache keys: text in which `{{ hash "package-lock.json" }}` is replaced by the hash of that file of the source.

use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::effort::Reading;
use crate::inside::Inside;
use crate::stop::Stopper;

/// Replaces the hash of a missing file.
const NOTHING: &str = "none";

/// Replaces the hashes in a template.
///
/// # Errors
/// A message about what is wrong with the key.
pub(super) fn fill(template: &str, source: &Path, stopper: &Stopper) -> Result<String, String> {
    let (mut key, mut rest) = (String::new(), template);
    while let Some((before, after)) = rest.split_once("{{") {
        let (inner, behind) = after.split_once("}}").ok_or("`{{` has no `}}` after it")?;
        let file = inner.trim().strip_prefix("hash").map(str::trim);
        let file = file.and_then(|file| file.strip_prefix('"')?.strip_suffix('"'));
        let file = file.ok_or("only hash \"FILE\" is allowed between `{{` and `}}`")?;
        key.push_str(before);
        key.push_str(&hash(file, source, stopper).map_err(|error| format!("cannot hash {file}: {error}"))?);
        rest = behind;
    }
    key.push_str(rest);
    Ok(key)
}

fn hash(file: &str, source: &Path, stopper: &Stopper) -> io::Result<String> {
    let content = match Inside::open(source)?.read(Path::new(file)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(NOTHING.to_owned()),
        content => content?,
    };
    let mut hash = Hashing(Sha256::new());
    io::copy(&mut Reading::new(content, stopper), &mut hash)?;
    Ok(hex::encode(hash.0.finalize()))
}

struct Hashing(Sha256);

impl io::Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_filled_in() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("lock"), "test").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", directory.path().join("link")).unwrap();
        let stopper = Stopper::default();
        let filled = |template| fill(template, directory.path(), &stopper);
        assert_eq!(filled("plain").unwrap(), "plain");
        let hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
        assert_eq!(filled("npm-{{ hash \"lock\" }}-x").unwrap(), format!("npm-{hash}-x"));
        assert_eq!(
            filled("{{hash \"lock\"}}{{ hash \"gone\" }}").unwrap(),
            format!("{hash}none")
        );
        for wrong in [
            "{{",
            "{{ hash lock }}",
            "{{ env \"X\" }}",
            "{{ hash \"link\" }}",
            "{{ hash \"../x\" }}",
            "{{ hash \"\" }}",
        ] {
            assert!(filled(wrong).is_err(), "{wrong}");
        }
    }
}
