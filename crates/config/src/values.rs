//! Parses the text of a setting: a number, a choice, a boolean, a size, paths.

use std::path::PathBuf;

use super::ConfigError;

/// Bytes in a GiB.
pub const GIB: u64 = 1 << 30;
/// Bytes in a MiB.
pub const MIB: u64 = 1 << 20;

/// Parses any value with `FromStr`; `wanted` completes the error with the values that are valid.
pub fn parse<T: std::str::FromStr>(
    value: &Option<String>,
    setting: &str,
    wanted: &str,
) -> Result<Option<T>, ConfigError> {
    let Some(text) = value else { return Ok(None) };
    text.parse()
        .map(Some)
        .map_err(|_| ConfigError::new(setting, format!("`{text}` is not {wanted}")))
}

/// Parses one of several words.
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

/// Parses paths separated by commas.
pub fn paths(list: &str) -> Vec<PathBuf> {
    let each = list.split(',').map(str::trim).filter(|path| !path.is_empty());
    each.map(PathBuf::from).collect()
}

/// Parses ports separated by commas.
pub fn ports(list: &str, setting: &str) -> Result<Vec<u16>, ConfigError> {
    let each = list.split(',').map(str::trim).filter(|port| !port.is_empty());
    let read = |port: &str| {
        let wrong = |_| ConfigError::new(setting, format!("`{port}` is not a port such as 8080"));
        port.parse().map_err(wrong)
    };
    each.map(read).collect()
}

/// Parses a boolean; unset means false.
pub fn truth(value: &Option<String>, setting: &str) -> Result<bool, ConfigError> {
    Ok(one_of(
        value,
        setting,
        &[("true", true), ("false", false), ("1", true), ("0", false)],
    )?
    .unwrap_or(false))
}

/// Parses a size in bytes, optionally with `K`, `M` or `G` after the number. Zero is invalid.
pub fn size(value: &Option<String>, setting: &str) -> Result<Option<u64>, ConfigError> {
    const WANTED: &str = "a size such as 536870912 or 512M";
    read_size(value, setting, WANTED, 1)
}

/// Parses a size where 0 turns the limit off.
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
