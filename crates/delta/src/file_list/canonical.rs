//! Writes a file list in the RFC 8785 form, without a library, so that its digest does not depend on one.

use std::io::{self, Write};

use super::{ALGORITHM, ListedFile};

/// The canonical JSON: no spaces, the fields in the order of their names, the files in their given order.
pub(super) fn write(files: &[ListedFile], target: &mut impl Write) -> io::Result<()> {
    write!(target, "{{\"alg\":\"{ALGORITHM}\",\"files\":[")?;
    for (index, file) in files.iter().enumerate() {
        if index > 0 {
            target.write_all(b",")?;
        }
        target.write_all(b"{\"path\":\"")?;
        write_path(&file.path, target)?;
        write!(target, "\",\"sha256\":\"{}\",\"size\":{}}}", file.sha256, file.size)?;
    }
    target.write_all(b"]}")
}

/// A path has neither control characters nor backslashes, so that the quotation mark alone is escaped.
fn write_path(path: &str, target: &mut impl Write) -> io::Result<()> {
    for (index, part) in path.split('"').enumerate() {
        if index > 0 {
            target.write_all(b"\\\"")?;
        }
        target.write_all(part.as_bytes())?;
    }
    Ok(())
}
