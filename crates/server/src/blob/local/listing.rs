//! Listing a large directory a piece at a time, in the order of the keys.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::super::{Key, Listed};

/// The objects under `folder` (a key with a slash behind it) whose keys are behind `after`, in ascending order, at most
/// `limit`. What vanishes meanwhile is passed over, a missing folder is empty.
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
            // All in a folder is before `after` when the folder is, unless `after` lies in it.
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

/// The names in a folder, those of folders with a slash behind them: sorted so, they are in the order of the keys.
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

/// When an object was written, in epoch milliseconds. A copy is a hard link and keeps the time of its bytes: that it was
/// made later shows in the time of the file's last change.
fn written(metadata: &fs::Metadata) -> i64 {
    let millis = |seconds: i64, nanos: i64| seconds.saturating_mul(1000).saturating_add(nanos / 1_000_000);
    let bytes = millis(metadata.mtime(), metadata.mtime_nsec());
    bytes.max(millis(metadata.ctime(), metadata.ctime_nsec()))
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
