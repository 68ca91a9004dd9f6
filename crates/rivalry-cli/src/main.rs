//! The `rivalry` command.
fn main() {}
