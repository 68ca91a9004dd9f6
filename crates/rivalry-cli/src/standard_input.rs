//! `--data -`: data from standard input.

use std::io::{IsTerminal, Read};
use std::sync::Arc;

use rivalry::data::{DataConfig, LoadOptions, STANDARD_INPUT};
use rivalry::{Error, InputError, Result};

/// Reads standard input if the data come from there and are not known yet.
pub fn read_if_asked(config: &DataConfig, options: LoadOptions) -> Result<LoadOptions> {
    if config.source != STANDARD_INPUT || options.standard_input.is_some() {
        return Ok(options);
    }
    let input = std::io::stdin();
    if input.is_terminal() {
        let error = InputError::new("standard input is a terminal");
        return Err(error
            .help("redirect a file or a command's output to it, such as: zcat log.gz | rivalry …")
            .into());
    }
    let limit = options.memory.get().unwrap_or(u64::MAX - 1);
    let mut content = Vec::new();
    let read = input.lock().take(limit + 1).read_to_end(&mut content);
    read.map_err(|e| Error::io("read", "standard input", e))?;
    options.memory.require(content.len() as u64, "reading standard input")?;
    Ok(LoadOptions { standard_input: Some(Arc::from(content)), ..options })
}
