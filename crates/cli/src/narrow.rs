//! Fits results and help into a narrow terminal: columns of names and values stay columns, and commands can still be pasted.

use console::measure_text_width;

/// Commands that texts show to be pasted.
const PASTED: [&str; 3] = ["launchway", "launchway-server", "curl"];
/// How far a value is indented below its name when it does not fit beside it.
const BELOW: usize = 2;

/// Breaks the values and commands of a text that are wider than this. Other lines stay as they are.
pub fn fit(text: &str, width: usize) -> String {
    let mut lines = Vec::new();
    let mut column = None;
    for line in text.lines() {
        let continues = column == Some(indent(line));
        if !continues {
            column = value_column(line);
        }
        match measure_text_width(line) > width {
            true => break_line(line, continues, width, &mut lines),
            false => lines.push(line.to_owned()),
        }
    }
    let end = if text.ends_with('\n') { "\n" } else { "" };
    lines.join("\n") + end
}

/// The same for help. Its paragraphs, which were broken for a wider terminal, become lines that the parser breaks.
pub fn fit_prose(text: &str, width: usize) -> String {
    let mut joined = String::new();
    let mut continues = false;
    for line in text.lines() {
        let is_prose = !line.is_empty() && !line.starts_with(' ');
        if !joined.is_empty() {
            joined.push(if continues && is_prose { ' ' } else { '\n' });
        }
        joined.push_str(line);
        continues = is_prose && !line.ends_with(':');
    }
    fit(&joined, width)
}

/// Where the value begins in a line with a name and a value, with two spaces or more between them.
fn value_column(line: &str) -> Option<usize> {
    let (name, rest) = line.trim_start_matches(' ').split_once("  ")?;
    let value = rest.trim_start_matches(' ');
    Some(indent(line) + measure_text_width(name) + 2 + rest.len() - value.len())
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Breaks a line; one that `continues` has more of the value of the line before.
fn break_line(line: &str, continues: bool, width: usize, lines: &mut Vec<String>) {
    let (indent, content) = (indent(line), line.trim_start_matches(' '));
    if content.split(' ').next().is_some_and(|word| PASTED.contains(&word)) {
        return fill(&shell_words(content), indent, indent + BELOW, width, " \\", lines);
    }
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    if continues {
        return fill(&words(content), indent, indent, width, "", lines);
    }
    let (Some(column), Some((name, value))) = (value_column(line), content.split_once("  ")) else {
        return lines.push(line.to_owned());
    };
    let values = words(value);
    let widest = values.iter().map(|word| measure_text_width(word)).max().unwrap_or(0);
    if column + widest > width || column > width / 2 {
        lines.push(format!("{:indent$}{name}", ""));
        return fill(&values, indent + BELOW, indent + BELOW, width, "", lines);
    }
    let mut broken = Vec::new();
    fill(&values, column, column, width, "", &mut broken);
    let gap = column - indent - measure_text_width(name);
    if let Some(first) = broken.first_mut() {
        *first = format!("{:indent$}{name}{:gap$}{}", "", "", first.trim_start_matches(' '));
    }
    lines.append(&mut broken);
}

/// Puts words on lines of this width. Every line but the last ends with `joint`; a word that is wider stays whole.
fn fill(words: &[String], first: usize, others: usize, width: usize, joint: &str, lines: &mut Vec<String>) {
    let mut line = " ".repeat(first);
    let mut is_empty = true;
    for word in words {
        let needed = measure_text_width(&line) + 1 + measure_text_width(word) + joint.len();
        if !is_empty && needed > width {
            lines.push(format!("{line}{joint}"));
            line = " ".repeat(others);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines.push(line);
}

/// Splits a command at the spaces that are not in quotes.
fn shell_words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for letter in command.chars() {
        match (quote, letter) {
            (None, ' ') => words.push(String::new()),
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), letter) if open == letter => quote = None,
            _ => {}
        }
        if let (Some(word), false) = (words.last_mut(), quote.is_none() && letter == ' ') {
            word.push(letter);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_in_their_column_or_move_below_the_name() {
        let id = "update_01kb0000000000000000000002";
        let text =
            format!("Id    {id}\nNote  one two three four five six seven more\n      eight nine ten eleven twelve\n");
        let expected = format!(
            "Id    {id}\nNote  one two three four five six seven\n      more\n      eight nine ten eleven twelve\n"
        );
        assert_eq!(fit(&text, 39), expected);
        assert_eq!(fit(&text, 1000), text);
        let expected = format!(
            "Id\n  {id}\nNote  one two three four five\n      six seven more\n      eight nine ten eleven\n      twelve\n"
        );
        assert_eq!(fit(&text, 30), expected);
    }

    #[test]
    fn commands_can_still_be_pasted() {
        let text = "To sign:\n  launchway update revoke ID --reason \"leaks many tokens\" --yes\n";
        let expected = "To sign:\n  launchway update revoke ID \\\n    --reason \"leaks many tokens\" \\\n    --yes\n";
        assert_eq!(fit(text, 34), expected);
        let script = fit("launchway-server 'one  two' \"it's\" three", 20).replace("launchway-server", "printf '%s|'");
        let output = std::process::Command::new("sh")
            .args(["-c", &script])
            .output()
            .expect("a shell");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "one  two|it's|three|");
    }

    #[test]
    fn paragraphs_are_joined_for_the_parser_and_lists_are_not() {
        let text = "Checks the settings, the\nserver and the key.\n\nExit codes:\n  1    failed\n  5    the update is incompatible\n";
        let expected = "Checks the settings, the server and the key.\n\nExit codes:\n  1    failed\n  5    the update is\n       incompatible";
        assert_eq!(fit_prose(text, 20), expected);
    }

    #[test]
    fn any_text_and_width_is_taken() {
        for text in [
            "",
            "\n",
            "   ",
            "日本語  日本語 日本語",
            "  launchway 'open",
            "a  ",
            "é  x y",
        ] {
            for width in 0..12 {
                let letters = |text: &str| {
                    text.chars()
                        .filter(|letter| !" \\\n".contains(*letter))
                        .collect::<String>()
                };
                assert_eq!(letters(&fit(text, width)), letters(text), "{text:?} at {width}");
                assert_eq!(letters(&fit_prose(text, width)), letters(text), "{text:?} at {width}");
            }
        }
    }
}
