//! The arguments of the suite's protocol, in any order.

use std::path::PathBuf;

use crate::Failure;

/// What to do.
pub enum Command {
    /// Begin with the root in this file.
    Init { root: PathBuf },
    /// Renew the metadata of the top-level roles.
    Refresh,
    /// Renew it, then fetch targets.
    Download,
}

/// What the suite asks for.
pub struct Arguments {
    pub command: Command,
    pub metadata_dir: PathBuf,
    pub metadata_url: String,
    pub target_names: Vec<String>,
    pub target_base_url: String,
    pub target_dir: PathBuf,
}

impl Arguments {
    /// Reads the arguments behind the program's name.
    pub fn parse(mut given: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let mut arguments = Self {
            command: Command::Refresh,
            metadata_dir: PathBuf::new(),
            metadata_url: String::new(),
            target_names: Vec::new(),
            target_base_url: String::new(),
            target_dir: PathBuf::new(),
        };
        let mut command = None;
        while let Some(argument) = given.next() {
            let mut value = || given.next().ok_or(format!("{argument} needs a value"));
            match argument.as_str() {
                "--metadata-dir" => arguments.metadata_dir = value()?.into(),
                "--metadata-url" => arguments.metadata_url = value()?,
                "--target-name" => arguments.target_names.push(value()?),
                "--target-base-url" => arguments.target_base_url = value()?,
                "--target-dir" => arguments.target_dir = value()?.into(),
                "init" => command = Some(Command::Init { root: value()?.into() }),
                "refresh" => command = Some(Command::Refresh),
                "download" => command = Some(Command::Download),
                _ => return Err(format!("unknown argument {argument}").into()),
            }
        }
        arguments.command = command.ok_or("init, refresh or download is missing")?;
        Ok(arguments)
    }
}
