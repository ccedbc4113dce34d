//! Formats the log of a build, which arrives in parts, line by line for a terminal: removes control characters and
//! highlights the headings of phases.

use console::strip_ansi_codes;

/// A longer line is printed in parts.
const LONGEST_LINE: usize = 16 << 10;
/// Prefix of the runner's own lines.
const HEADING: &str = "==> ";

/// Splits parts of a log into lines.
#[derive(Debug, Default)]
pub struct LogLines {
    begun: Vec<u8>,
    after_return: bool,
}

impl LogLines {
    /// Adds a part and passes each completed line to `show`. A progress bar that overwrites itself becomes several
    /// lines.
    pub fn push(&mut self, part: &[u8], mut show: impl FnMut(&str)) {
        for byte in part {
            let follows_return = std::mem::take(&mut self.after_return);
            match byte {
                b'\n' if follows_return => {}
                b'\n' | b'\r' => {
                    self.after_return = *byte == b'\r';
                    self.end_line(&mut show);
                }
                byte => self.begun.push(*byte),
            }
            if self.begun.len() >= LONGEST_LINE {
                self.end_line(&mut show);
            }
        }
    }

    /// Passes on the last, incomplete line.
    pub fn finish(mut self, mut show: impl FnMut(&str)) {
        if !self.begun.is_empty() {
            self.end_line(&mut show);
        }
    }

    fn end_line(&mut self, show: &mut impl FnMut(&str)) {
        let line = std::mem::take(&mut self.begun);
        let text = String::from_utf8_lossy(&line);
        let text = strip_ansi_codes(&text);
        let plain: String = text
            .chars()
            .filter(|letter| !letter.is_control() || *letter == '\t')
            .collect();
        show(&plain);
    }
}

/// Whether a line begins a phase, or is another message of the runner.
pub fn is_heading(line: &str) -> bool {
    line.starts_with(HEADING)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(parts: &[&[u8]]) -> Vec<String> {
        let (mut lines, mut shown) = (LogLines::default(), Vec::new());
        for part in parts {
            lines.push(part, |line| shown.push(line.to_owned()));
        }
        lines.finish(|line| shown.push(line.to_owned()));
        shown
    }

    const LOG: &[u8] = b"==> compile\n\x1b[31mred\x1b[0m\tend\r\n\n10%\r20%\r\xffz\x07\x1b]0;title\x07\nlast";

    #[test]
    fn nothing_steers_the_terminal() {
        let expected = ["==> compile", "red\tend", "", "10%", "20%", "\u{fffd}z", "last"];
        assert_eq!(lines(&[LOG]), expected);
        assert!(is_heading("==> compile") && !is_heading("=> compile"));
    }

    #[test]
    fn a_line_without_end_is_shown_in_parts() {
        let shown = lines(&[&vec![b'x'; LONGEST_LINE * 2 + 1]]);
        assert_eq!(
            shown.iter().map(String::len).collect::<Vec<_>>(),
            [LONGEST_LINE, LONGEST_LINE, 1]
        );
    }

    #[test]
    fn however_the_log_is_cut() {
        for cut in 0..LOG.len() {
            assert_eq!(lines(&[&LOG[..cut], &LOG[cut..]]), lines(&[LOG]), "{cut}");
        }
    }
}
