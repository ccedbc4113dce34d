//! What the text of a setting means: a number, a choice, a truth, a size, paths.

use std::path::PathBuf;

use super::ConfigError;

/// Bytes in a GiB.
pub const GIB: u64 = 1 << 30;
/// Bytes in a MiB.
pub const MIB: u64 = 1 << 20;

/// Whatever can be read from a text; `wanted` says of one that cannot what would do.
pub fn parsed<T: std::str::FromStr>(
    value: &Option<String>,
    setting: &str,
    wanted: &str,
) -> Result<Option<T>, ConfigError> {
    let Some(text) = value else { return Ok(None) };
    text.parse()
        .map(Some)
        .map_err(|_| ConfigError::new(setting, format!("`{text}` is not {wanted}")))
}

/// One of some words.
pub fn one_of<T: Copy>(value: &Option<String>, setting: &str, choices: &[(&str, T)]) -> Result<Option<T>, ConfigError> {
    let Some(text) = value else { return Ok(None) };
    match choices.iter().find(|(name, _)| name == text) {
        Some((_, choice)) => Ok(Some(*choice)),
        None => {
            let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
            Err(ConfigError::new(
                setting,
                format!("`{text}` is not one of {}", names.join(", ")),
            ))
        }
    }
}

/// Paths with commas between them.
pub fn paths(list: &str) -> Vec<PathBuf> {
    let each = list.split(',').map(str::trim).filter(|path| !path.is_empty());
    each.map(PathBuf::from).collect()
}

/// Ports with commas between.
pub fn ports(list: &str, setting: &str) -> Result<Vec<u16>, ConfigError> {
    let each = list.split(',').map(str::trim).filter(|port| !port.is_empty());
    let read = |port: &str| {
        let wrong = |_| ConfigError::new(setting, format!("`{port}` is not a port such as 8080"));
        port.parse().map_err(wrong)
    };
    each.map(read).collect()
}

/// A truth; absent is false.
pub fn truth(value: &Option<String>, setting: &str) -> Result<bool, ConfigError> {
    Ok(one_of(
        value,
        setting,
        &[("true", true), ("false", false), ("1", true), ("0", false)],
    )?
    .unwrap_or(false))
}

/// Bytes, also with `K`, `M` or `G` behind the number, but not 0.
pub fn size(value: &Option<String>, setting: &str) -> Result<Option<u64>, ConfigError> {
    const WANTED: &str = "a size such as 536870912 or 512M";
    read_size(value, setting, WANTED, 1)
}

/// The same where 0 turns the limit off.
pub fn size_or_zero(value: &Option<String>, setting: &str) -> Result<Option<u64>, ConfigError> {
    const WANTED: &str = "a size such as 536870912 or 512M, or 0";
    read_size(value, setting, WANTED, 0)
}

fn read_size(value: &Option<String>, setting: &str, wanted: &str, least: u64) -> Result<Option<u64>, ConfigError> {
    let Some(text) = value else { return Ok(None) };
    let (digits, factor) = match text
        .trim_end_matches(['B', 'b'])
        .split_at_checked(text.len().saturating_sub(1))
    {
        Some((digits, "K" | "k")) => (digits, 1 << 10),
        Some((digits, "M" | "m")) => (digits, MIB),
        Some((digits, "G" | "g")) => (digits, GIB),
        _ => (text.as_str(), 1),
    };
    let bytes = digits
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(factor))
        .filter(|bytes| *bytes >= least);
    bytes
        .map(Some)
        .ok_or_else(|| ConfigError::new(setting, format!("`{text}` is not {wanted}")))
}
