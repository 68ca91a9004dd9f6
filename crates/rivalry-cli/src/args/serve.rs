//! `rivalry serve`

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, value_parser};
use rivalry_serve::ModelSource;

/// `rivalry serve`
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Run folders or model files; NAME=PATH to call a model by another name than its folder's
    #[arg(required = true, value_name = "RUN", value_parser = model_source)]
    pub runs: Vec<ModelSource>,
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7878", value_parser = address)]
    pub listen: SocketAddr,
    /// File with the API key that requests must carry
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// A/B test: shares of the users that each model answers, such as a=0.9,b=0.1
    #[arg(long, value_name = "NAME=SHARE", value_delimiter = ',', value_parser = share)]
    pub split: Vec<(String, f64)>,
    /// CSV file with titles of items: id, title, url, image
    #[arg(long, value_name = "FILE")]
    pub items: Option<PathBuf>,
    /// Append feedback to this file (JSON lines, read by 'rivalry train --data') [default: refuse feedback]
    #[arg(long, value_name = "FILE")]
    pub feedback: Option<PathBuf>,
    /// Events that count as interactions; others are stored beside it (feedback.other.jsonl) and change no list [default: click,
    /// view, play, read, like, save, share, add-to-cart, buy, purchase, and events without a name]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', requires = "feedback")]
    pub positive_events: Vec<String>,
    /// How often to check for new models, in seconds; 0 for never, only at POST /api/reload
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0, value_parser = seconds)]
    pub watch: f64,
    /// Number of ranking threads (0 = all cores); results don't depend on it
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = value_parser!(u16).range(..=1024))]
    pub threads: u16,
    /// Search by an HNSW index in catalogues of at least N items; its recall@20 is measured at load
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "1000000")]
    pub approximate: Option<usize>,
    /// Largest number of items in a list, with those skipped
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = value_parser!(u32).range(1..))]
    pub max_n: u32,
    /// Most users, items or events in one request
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = value_parser!(u32).range(1..))]
    pub max_batch: u32,
    /// Largest body of a request, such as 1M
    #[arg(long, value_name = "SIZE", default_value = "1M", value_parser = super::memory_size)]
    pub max_body: u64,
    /// Most requests in progress; more are refused
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = value_parser!(u32).range(1..))]
    pub max_requests: u32,
    /// Requests per second and client address [default: no limit]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub rate: Option<u32>,
}

/// A path, or a name and a path.
fn model_source(text: &str) -> Result<ModelSource, String> {
    match text.split_once('=') {
        Some((name, path)) if !name.is_empty() && !name.contains('/') && !path.is_empty() => {
            Ok(ModelSource { name: name.to_owned(), path: path.into() })
        }
        _ => Ok(ModelSource::at(text)),
    }
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "expected ADDRESS:PORT, such as 127.0.0.1:7878".to_owned())
}

fn share(text: &str) -> Result<(String, f64), String> {
    let parsed = text.split_once('=').and_then(|(name, share)| Some((name.to_owned(), share.parse().ok()?)));
    parsed.ok_or_else(|| "expected NAME=SHARE, such as a=0.9".to_owned())
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.0..=86_400.0).contains(seconds));
    seconds.ok_or_else(|| "expected a number of seconds, such as 2 or 0.5".to_owned())
}
