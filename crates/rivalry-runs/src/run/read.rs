//! Reading and writing the config and the log of a run.

use std::io::Write;

use super::RunFolder;
use super::folder::{CONFIG, LOG};
use crate::{Error, InputError, Result};
use rivalry::config::{CONFIG_FORMAT, Config, parse_layer};
use rivalry::files::checksum::TextFormat;
use rivalry::files::write_atomically;
use rivalry::train::{Record, TrainingState};

const LOG_FORMAT: TextFormat = TextFormat { name: "rivalry-log", version: 2 };

impl RunFolder {
    /// The config of the run.
    ///
    /// # Errors
    /// If the file can't be read, or was changed since it was written.
    pub fn config(&self) -> Result<Config> {
        let path = self.path().join(CONFIG);
        let help = "restore it from a copy; to train with other settings, copy the file and run \
                    'rivalry train --config COPY'; to use it as it is now, delete its first line";
        let Some(text) = CONFIG_FORMAT.read(&path, help)? else {
            return Err(InputError::new("there is no such file").file(path).into());
        };
        Config::from_layers(&[parse_layer(&text, &path)?]).map_err(|error| match error {
            Error::Input(error) => error.file(path).into(),
            other => other,
        })
    }

    pub(super) fn write_config(&self, config: &Config) -> Result<()> {
        let content = CONFIG_FORMAT.comment(config.to_toml());
        write_atomically(&self.path().join(CONFIG), |file| file.write_all(&content))
    }

    /// The evaluations of the run, in order; empty if there was none yet.
    ///
    /// # Errors
    /// If the file can't be read or is damaged.
    pub fn log(&self) -> Result<Vec<Record>> {
        let path = self.path().join(LOG);
        let help = "restore it from a copy, or make it again: rivalry train --resume RUN";
        let text = LOG_FORMAT.read(&path, help)?.unwrap_or_default();
        let record = |(line, text): (u64, &str)| {
            serde_json::from_str(text).map_err(|e| {
                InputError::new(format!("not a record of an evaluation: {e}"))
                    .file(&path)
                    .line(line)
                    .help(help)
                    .damage()
                    .into()
            })
        };
        (1..).zip(text.lines()).map(record).collect()
    }

    /// Makes a damaged log again from the checkpoint, and returns the damage.
    ///
    /// # Errors
    /// If the log can't be read or written.
    pub fn restore_log(&self, state: &TrainingState) -> Result<Option<Error>> {
        match self.log() {
            Err(damage) if damage.is_damage() => {
                self.write_log(&state.progress.history)?;
                Ok(Some(damage))
            }
            other => other.map(|_| None),
        }
    }

    pub(super) fn write_log(&self, records: &[Record]) -> Result<()> {
        let lines = records.iter().map(|record| serde_json::to_string(record).map(|line| line + "\n"));
        let lines: String = lines.collect::<Result<_, _>>().expect("records are plain data");
        let content = LOG_FORMAT.json(&lines);
        write_atomically(&self.path().join(LOG), |file| file.write_all(&content))
    }
}
