//! Files that can be downloaded.

use serde::{Deserialize, Serialize};

/// A file at a public address, with what is needed to verify it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemoteFile {
    /// The address.
    pub url: String,
    /// SHA-256 of the file, in hex.
    pub sha256: String,
    /// The size of the file; a longer download is aborted.
    pub bytes: u64,
}

/// The progress of a download.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DownloadProgress<'a> {
    /// The name of the data set.
    pub name: &'a str,
    /// Bytes received so far.
    pub done: u64,
    /// The size of the file, if the server states it.
    pub total: Option<u64>,
}
