//! The server over real connections on the loopback address.

mod answers;
mod feedback;
mod malformed;
mod openapi;
mod operation;
mod support;
mod swap;
