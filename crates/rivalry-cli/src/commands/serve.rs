//! `rivalry serve`

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rivalry::vectors::HAS_ITEM_INDEX;
use rivalry::{Error, InputError, Result};
use rivalry_serve::{Limits, ServeOptions, Server};

use crate::args::ServeArgs;
use crate::output::{print, say};

/// The shortest key that is accepted, in characters.
const SHORTEST_KEY: usize = 16;

pub fn run(args: &ServeArgs) -> anyhow::Result<()> {
    // Models are replaced for as long as the process lives.
    rivalry_kernels::map_large_blocks();
    if args.approximate.is_some() && !HAS_ITEM_INDEX {
        let what = "this build has no HNSW index: it was built without the feature `hnsw`";
        let help = "leave --approximate out: the search is exact then";
        return Err(Error::from(InputError::new(what).field("--approximate").help(help)).into());
    }
    let defaults = ServeOptions::new(args.runs.clone());
    let options = ServeOptions {
        listen: args.listen,
        key: args.key_file.as_deref().map(read_key).transpose()?,
        split: args.split.clone(),
        items: args.items.clone(),
        feedback: args.feedback.clone(),
        positive_events: match args.positive_events.is_empty() {
            true => defaults.positive_events,
            false => args.positive_events.clone(),
        },
        threads: args.threads.into(),
        watch: (args.watch > 0.0).then(|| Duration::from_secs_f64(args.watch)),
        approximate_from: args.approximate,
        limits: Limits {
            max_n: args.max_n as usize,
            max_batch: args.max_batch as usize,
            max_body: usize::try_from(args.max_body).unwrap_or(usize::MAX),
            max_requests: args.max_requests as usize,
            rate: args.rate.map(f64::from),
            ..Limits::default()
        },
        log: Arc::new(|text| say(text)),
        ..defaults
    };
    let open = options.key.is_none() && !args.listen.ip().is_loopback();
    let server = Server::start(options)?;
    if open {
        say(format_args!(
            "warning: {} can be reached from other machines, and there is no API key: add --key-file",
            server.address()
        ));
    }
    let stopper = server.stopper();
    let mut asked = false;
    ctrlc::set_handler(move || {
        if std::mem::replace(&mut asked, true) {
            std::process::exit(130);
        }
        stopper.stop();
    })?;
    let address = server.address();
    print(format_args!("serving on http://{address}"))?;
    say(format_args!(
        "next    curl 'http://{address}/api/recommend/USER?n=10', or open the address in a browser; all requests: /docs"
    ));
    server.wait();
    say("stopped");
    Ok(())
}

/// The key in a file, without the end of the line.
fn read_key(path: &Path) -> Result<String> {
    let text = std::fs::read_to_string(path).map_err(|e| Error::io("read", path, e))?;
    let key = text.trim();
    let printable = key.bytes().all(|byte| byte.is_ascii_graphic());
    if key.len() >= SHORTEST_KEY && printable {
        return Ok(key.to_owned());
    }
    let what = format!("an API key is one line of at least {SHORTEST_KEY} printable ASCII characters");
    Err(InputError::new(what).file(path).help("make one: openssl rand -hex 32 > FILE").into())
}
