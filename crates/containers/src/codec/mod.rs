//! Streams over streams.

mod inflate;

pub use inflate::Inflater;
