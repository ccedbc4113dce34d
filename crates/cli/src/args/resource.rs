//! The arguments that commands on every kind of resource share: the page of a list, the id, and the confirmation of a
//! deletion.

use clap::Args;
use launchway_client::Paging;

/// Which page of a list.
#[derive(Args, Clone, Copy, Debug)]
pub struct PageArgs {
    /// Number of items to show
    #[arg(long, value_name = "NUMBER", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub limit: u32,
    /// Number of items to skip
    #[arg(long, value_name = "NUMBER", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=999_999_999))]
    pub offset: u64,
}

impl PageArgs {
    /// Converts to the client's type.
    pub fn paging(self) -> Paging {
        Paging {
            limit: self.limit,
            offset: self.offset,
        }
    }
}

/// One resource.
#[derive(Args, Debug)]
pub struct IdArgs {
    /// Its id, as shown by the list
    #[arg(value_name = "ID")]
    pub id: String,
}

/// One resource that is to go.
#[derive(Args, Debug)]
pub struct DeleteArgs {
    /// Its id, as shown by the list
    #[arg(value_name = "ID")]
    pub id: String,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
}
