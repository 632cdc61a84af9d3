//! Archives with a table of their members.

mod zip;

pub use zip::{MemberDoubt, Zip, ZipDoubt, ZipMember, ZipMethod, parts};
