//! Prints a page of a list, and a deletion: the results with the same form for every kind of resource.

use launchway_api::lists::{Deleted, Page};
use launchway_client::Answer;

use crate::failure::Failure;
use crate::printer::Printer;
use crate::printer::fields::page_summary;
use crate::printer::table::Table;

impl Printer {
    /// Prints a page of a list as a table, and which part of the list it is. `thing` is the singular name of the
    /// elements.
    pub fn page<T>(
        &self,
        thing: &str,
        answer: &Answer<Page<T>>,
        table: impl FnOnce(&[T]) -> Table,
    ) -> Result<(), Failure> {
        let page = &answer.value;
        self.result(&answer.body, || self.table(&table(&page.items)))?;
        self.note(&page_summary(thing, page));
        Ok(())
    }

    /// Prints the result of a deletion. `label` is the id, with the name if it is known.
    pub fn deletion(&self, answer: &Answer<Deleted>, label: &str) -> Result<(), Failure> {
        let status = &answer.value.status;
        self.result(&answer.body, || format!("{label} is {status}\n"))
    }
}
