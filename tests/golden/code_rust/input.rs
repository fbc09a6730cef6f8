//! Keeps jars.
use std::fmt;

#[derive(Debug)]
pub struct Shelf<'a> {
    name: &'a str,
}

impl<'a> fmt::Display for Shelf<'a> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.name)
    }
}

/// Opens a shelf.
pub(crate) async unsafe fn open(name: &str) -> Shelf {
    Shelf { name }
}

macro_rules! jar {
    () => {};
}
