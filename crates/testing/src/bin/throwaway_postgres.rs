//! Starts a temporary PostgreSQL, prints the URL of an empty database, and keeps both until its input ends or it dies.
//!
//! For manual work (`cargo run -p launchway-testing --bin throwaway-postgres`, then Ctrl-D or Ctrl-C), and for the test
//! that kills it.

use std::io::{self, Read, Write};

use launchway_testing::postgres::Postgres;

fn main() -> io::Result<()> {
    let postgres = Postgres::start_own();
    writeln!(io::stdout(), "{}", postgres.fresh_database())?;
    writeln!(io::stdout(), "{}", postgres.directory().display())?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
