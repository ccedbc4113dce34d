//! Lists a large directory page by page, in the order of the keys.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::super::{Key, Listed};

/// At most `limit` objects under `folder` (a key with a trailing slash) whose keys come after `after`, in ascending
/// order. Skips what vanishes concurrently; a missing folder counts as empty.
pub(super) fn page(root: &Path, folder: &str, after: &str, limit: usize) -> io::Result<Vec<Listed>> {
    let mut listed = Vec::new();
    visit(root, folder, after, limit, &mut listed)?;
    Ok(listed)
}

fn visit(root: &Path, folder: &str, after: &str, limit: usize, listed: &mut Vec<Listed>) -> io::Result<()> {
    for name in names(&root.join(folder))? {
        if listed.len() >= limit {
            break;
        }
        let name = format!("{folder}{name}");
        if name.ends_with('/') {
            // A folder that sorts before `after` contains only earlier keys, unless `after` is inside it.
            if name.as_str() > after || after.starts_with(&name) {
                visit(root, &name, after, limit, listed)?;
            }
        } else if name.as_str() > after
            && let Ok(key) = Key::new(&name)
        {
            match fs::symlink_metadata(root.join(&name)) {
                Err(error) if is_gone(&error) => {}
                metadata => listed.push(Listed {
                    key,
                    written_ms: written(&metadata?),
                }),
            }
        }
    }
    Ok(())
}

/// The names in a folder, those of folders with a trailing slash. With it, their order is the order of the keys.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if is_gone(&error) => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        match entry.file_type() {
            Err(error) if is_gone(&error) => {}
            kind => match kind? {
                kind if kind.is_dir() => names.push(name + "/"),
                kind if kind.is_file() => names.push(name),
                _ => {}
            },
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// When an object was written, in epoch milliseconds. A copy is a hard link and shares the modification time of its
/// bytes; only the change time shows that it was made later.
fn written(metadata: &fs::Metadata) -> i64 {
    let millis = |seconds: i64, nanos: i64| seconds.saturating_mul(1000).saturating_add(nanos / 1_000_000);
    let bytes = millis(metadata.mtime(), metadata.mtime_nsec());
    bytes.max(millis(metadata.ctime(), metadata.ctime_nsec()))
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
