//! The records of the store, as they are read.
