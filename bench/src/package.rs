//! A package of an app, for what reads every byte of it.

use std::io::{Cursor, Write};

/// The bytes of each file of a package.
const FILE_BYTES: usize = 100 << 10;

/// A package of files that do not compress.
///
/// # Errors
/// When the ZIP cannot be written.
pub fn package(mebibytes: u32) -> anyhow::Result<Vec<u8>> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let mut state = 1_u64;
    for number in 0..(mebibytes as usize * (1 << 20)).div_ceil(FILE_BYTES) {
        let bytes: Vec<u8> = (0..FILE_BYTES / 8)
            .flat_map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state ^ (state >> 29)).to_be_bytes()
            })
            .collect();
        zip.start_file(format!("assets/{number}.bin"), zip::write::SimpleFileOptions::default())?;
        zip.write_all(&bytes)?;
    }
    Ok(zip.finish()?.into_inner())
}
