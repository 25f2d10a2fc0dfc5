//! What runs without a server.

mod check;
mod lookup;
mod render;

pub(crate) use check::check;
pub(crate) use lookup::lookup;
