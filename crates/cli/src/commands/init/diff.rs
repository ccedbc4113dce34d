//! The lines in which two texts differ, for people. Pure.

/// Consecutive lines that differ.
#[derive(Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The number of the first one in the new text.
    pub line: usize,
    /// The lines, each behind `- ` or `+ `.
    pub lines: Vec<String>,
}

/// Pairs of lines that are compared at most. More is shown as replaced.
const MOST_PAIRS: usize = 1 << 20;

/// The differences, in order. Ends of lines do not count.
pub fn hunks(before: &str, after: &str) -> Vec<Hunk> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let start = old.iter().zip(&new).take_while(|(this, that)| this == that).count();
    let shorter = old.len().min(new.len()) - start;
    let ends = old.iter().rev().zip(new.iter().rev()).take(shorter);
    let end = ends.take_while(|(this, that)| this == that).count();
    let (old, new) = (&old[start..old.len() - end], &new[start..new.len() - end]);
    let mut found = Collector::new(start);
    let common = CommonLengths::of(old, new);
    let (mut at, mut to) = (0, 0);
    while at < old.len() || to < new.len() {
        if common.is_pair(old, new, (at, to)) {
            found.keep();
            (at, to) = (at + 1, to + 1);
        } else if at < old.len() && (to == new.len() || common.length(at + 1, to) >= common.length(at, to + 1)) {
            found.remove(old[at]);
            at += 1;
        } else {
            found.add(new[to]);
            to += 1;
        }
    }
    found.hunks
}

struct Collector {
    hunks: Vec<Hunk>,
    /// Lines of the new text so far.
    line: usize,
    is_open: bool,
}

impl Collector {
    fn new(line: usize) -> Self {
        Self {
            hunks: Vec::new(),
            line,
            is_open: false,
        }
    }

    fn keep(&mut self) {
        self.line += 1;
        self.is_open = false;
    }

    fn remove(&mut self, line: &str) {
        self.push(format!("- {line}"));
    }

    fn add(&mut self, line: &str) {
        self.push(format!("+ {line}"));
        self.line += 1;
    }

    fn push(&mut self, line: String) {
        match self.hunks.last_mut().filter(|_| self.is_open) {
            Some(hunk) => hunk.lines.push(line),
            None => self.hunks.push(Hunk {
                line: self.line + 1,
                lines: vec![line],
            }),
        }
        self.is_open = true;
    }
}

/// How many lines the ends of two texts have in common, from each pair of lines on. Empty if that would be too many.
struct CommonLengths {
    lengths: Vec<u32>,
    width: usize,
}

impl CommonLengths {
    fn of(old: &[&str], new: &[&str]) -> Self {
        let width = new.len() + 1;
        let mut this = Self {
            lengths: Vec::new(),
            width,
        };
        if old.len().saturating_mul(new.len()) > MOST_PAIRS {
            return this;
        }
        this.lengths = vec![0; (old.len() + 1) * width];
        for (at, line) in old.iter().enumerate().rev() {
            for (to, other) in new.iter().enumerate().rev() {
                this.lengths[at * width + to] = match line == other {
                    true => this.length(at + 1, to + 1) + 1,
                    false => this.length(at + 1, to).max(this.length(at, to + 1)),
                };
            }
        }
        this
    }

    fn length(&self, at: usize, to: usize) -> u32 {
        self.lengths.get(at * self.width + to).copied().unwrap_or_default()
    }

    fn is_pair(&self, old: &[&str], new: &[&str], (at, to): (usize, usize)) -> bool {
        !self.lengths.is_empty() && at < old.len() && old.get(at) == new.get(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(before: &str, after: &str) -> Vec<(usize, Vec<String>)> {
        let hunks = hunks(before, after).into_iter();
        hunks.map(|hunk| (hunk.line, hunk.lines)).collect()
    }

    #[test]
    fn each_place_that_differs_is_shown_once() {
        let found = shown("a\nb\nc\nd\n", "a\nx\ny\nb\nc\nz\n");
        let lines = |lines: &[&str]| lines.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(found, [(2, lines(&["+ x", "+ y"])), (6, lines(&["- d", "+ z"]))]);
        assert!(shown("a\r\nb", "a\nb\n").is_empty());
        assert_eq!(shown("", "a\n"), [(1, lines(&["+ a"]))]);
        assert_eq!(shown("a\na\n", "a\n"), [(2, lines(&["- a"]))]);
    }

    #[test]
    fn very_long_texts_are_shown_as_replaced() {
        let (old, new) = ("a\n".repeat(2000), "b\n".repeat(2000));
        let found = hunks(&old, &new);
        assert_eq!((found.len(), found[0].lines.len()), (1, 4000));
    }
}
