//! The source of a variable's value: a file, standard input, a hidden prompt, or, for values that are not secret, the
//! argument itself.

use std::path::Path;

use launchway_api::secret::SecretText;
use launchway_domain::env_var::MAX_VALUE_SIZE;

use crate::args::env::SetArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::terminal::read_input;

/// A file of many variables may be larger than one value.
const LONGEST_INPUT: u64 = 4 << 20;

/// The value, and for a file its path in the build.
pub async fn of(arguments: &SetArgs, context: &Context) -> Result<(SecretText, Option<String>), Failure> {
    if let Some(file) = &arguments.file {
        let path = match &arguments.path {
            Some(path) => path.clone(),
            None => same_place(file)?,
        };
        return Ok((fitting(read_file(file)?)?, Some(path)));
    }
    let text = match arguments.value.as_deref() {
        Some("-") => read_input(LONGEST_INPUT).await?,
        Some(argument) => match argument.strip_prefix('@') {
            Some(path) => read_file(Path::new(path))?,
            None if arguments.scope.plain => return Ok((fitting(argument.to_owned())?, None)),
            None => {
                return Err(Failure::usage("a secret value is never an argument").hint(
                    "pipe it in, give a file with @FILE, or omit it to be prompted; --plain is for values that are not secret",
                ));
            }
        },
        None if context.terminal.is_piped() => read_input(LONGEST_INPUT).await?,
        None if context.terminal.is_interactive() => {
            let question = format!("Value of {}", arguments.name);
            context.terminal.ask_hidden(&question).await?
        }
        None => return Err(Failure::usage("no terminal to prompt for the value").hint("pipe the value in")),
    };
    if text.is_empty() {
        return Err(Failure::usage("no value given").hint("for an empty value, give '' with --plain"));
    }
    Ok((fitting(without_line_end(text))?, None))
}

/// The text of a file, or of standard input for `-`.
pub async fn file_or_input(path: &Path) -> Result<SecretText, Failure> {
    let text = if path == Path::new("-") {
        read_input(LONGEST_INPUT).await?
    } else {
        read_file(path)?
    };
    Ok(SecretText::new(text))
}

fn read_file(path: &Path) -> Result<String, Failure> {
    let shown = path.display();
    let bytes = std::fs::read(path).map_err(|error| Failure::usage(format!("cannot read {shown}: {error}")))?;
    String::from_utf8(bytes).map_err(|_| {
        Failure::usage(format!("{shown} is not UTF-8 text"))
            .hint("add keystores, certificates and profiles as credentials: launchway credential add FILE")
    })
}

/// Most programs end their output with a line break that is not part of the value.
fn without_line_end(mut text: String) -> String {
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    text
}

fn fitting(text: String) -> Result<SecretText, Failure> {
    let text = SecretText::new(text);
    if text.reveal().len() > MAX_VALUE_SIZE {
        return Err(Failure::usage("the value is larger than 64 KiB"));
    }
    Ok(text)
}

/// A relative path is also the path in the build.
fn same_place(file: &Path) -> Result<String, Failure> {
    let relative = file.to_str().filter(|_| file.is_relative());
    relative
        .map(|text| text.trim_start_matches("./").to_owned())
        .filter(|text| !text.split('/').any(|part| part == ".."))
        .ok_or_else(|| Failure::usage("the path of the file in the build is missing").hint("give --path PATH"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_break_at_the_end_is_not_part_of_the_value() {
        for (text, value) in [
            ("a\n", "a"),
            ("a\r\n", "a"),
            ("a\n\n", "a\n"),
            ("a", "a"),
            ("a\r", "a\r"),
            ("\n", ""),
        ] {
            assert_eq!(without_line_end(text.to_owned()), value, "{text:?}");
        }
    }

    #[test]
    fn a_file_within_the_project_goes_where_it_is() {
        assert_eq!(same_place(Path::new("./a/b.json")).expect("a place"), "a/b.json");
        for elsewhere in ["/etc/x.json", "../x.json", "a/../../x.json"] {
            same_place(Path::new(elsewhere)).expect_err(elsewhere);
        }
    }
}
