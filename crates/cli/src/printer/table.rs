//! Formats several resources: a table if it fits, otherwise a block for each.

use std::fmt::Write as _;

use console::measure_text_width;

use crate::printer::clean;
use crate::printer::fields::fields;

#[derive(Debug)]
pub struct Table {
    heads: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(heads: &[&'static str]) -> Self {
        Self {
            heads: heads.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row, which has as many cells as there are columns.
    pub fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.heads.len(), "a cell for each column");
        self.rows
            .push(cells.iter().map(|cell| clean(cell).replace('\n', " ")).collect());
    }

    /// Renders the table for this width in columns of text, or unlimited when the width is unknown.
    pub fn render(&self, width: Option<usize>) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let widths: Vec<usize> = (0..self.heads.len()).map(|column| self.column_width(column)).collect();
        let needed = widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1);
        if width.is_some_and(|width| width < needed) {
            self.blocks()
        } else {
            self.lines(&widths)
        }
    }

    fn column_width(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|row| measure_text_width(&row[column]));
        cells.max().unwrap_or(0).max(self.heads[column].len())
    }

    fn lines(&self, widths: &[usize]) -> String {
        let heads = self.heads.iter().map(|head| head.to_uppercase()).collect();
        let mut text = String::new();
        for row in std::iter::once(&heads).chain(&self.rows) {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(widths) {
                let gap = width.saturating_sub(measure_text_width(cell)) + 2;
                let _ = write!(line, "{cell}{:gap$}", "");
            }
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text
    }

    fn blocks(&self) -> String {
        let block =
            |row: &Vec<String>| fields(&self.heads.iter().copied().zip(row.iter().cloned()).collect::<Vec<_>>());
        self.rows.iter().map(block).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&["Id", "Name"]);
        table.row(vec!["1".to_owned(), "日本".to_owned()]);
        table.row(vec!["22".to_owned(), "x\ny".to_owned()]);
        table
    }

    #[test]
    fn stands_in_columns_where_it_fits() {
        assert_eq!(table().render(None), "ID  NAME\n1   日本\n22  x y\n");
        assert_eq!(table().render(Some(8)), table().render(None));
        assert_eq!(Table::new(&["Id"]).render(None), "");
    }

    #[test]
    fn falls_into_blocks_where_it_does_not() {
        assert_eq!(table().render(Some(7)), "Id    1\nName  日本\n\nId    22\nName  x y\n");
    }
}
