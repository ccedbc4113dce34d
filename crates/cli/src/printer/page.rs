//! A page of a list, and a deletion: the answers that look the same for every kind of resource.

use launchway_api::lists::{Deleted, Page};
use launchway_client::Answer;

use crate::failure::Failure;
use crate::printer::Printer;
use crate::printer::fields::what_is_shown;
use crate::printer::table::Table;

impl Printer {
    /// Prints a page of a list as a table, and says which part of the list it is. `thing` is what the list holds, in
    /// the singular.
    pub fn page<T>(
        &self,
        thing: &str,
        answer: &Answer<Page<T>>,
        table: impl FnOnce(&[T]) -> Table,
    ) -> Result<(), Failure> {
        let page = &answer.value;
        self.result(&answer.body, || self.table(&table(&page.items)))?;
        self.note(&what_is_shown(thing, page));
        Ok(())
    }

    /// Prints what became of a resource that went.
    pub fn gone(&self, answer: &Answer<Deleted>) -> Result<(), Failure> {
        let Deleted { id, status } = &answer.value;
        self.result(&answer.body, || format!("{id} is {status}.\n"))
    }
}
