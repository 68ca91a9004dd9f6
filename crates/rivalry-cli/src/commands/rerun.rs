//! `rivalry rerun`

use std::path::{Path, PathBuf};

use rivalry::Error;
use rivalry_runs::run::{Agreement, FinishedRun, RunFolder};
use serde::Serialize;

use super::{load, use_machine};
use crate::args::RerunArgs;
use crate::output::{print, print_json, say};
use crate::signals;
use crate::training::{print_data_summary, print_model_summary, train};

#[derive(Serialize)]
struct Document<'a> {
    run: &'a Path,
    #[serde(flatten)]
    agreement: &'a Agreement,
}

pub fn run(args: &RerunArgs) -> anyhow::Result<()> {
    use_machine(&args.common.machine)?;
    let then = FinishedRun::open(&args.run)?;
    let dataset = load(&then.config, args.data_dir.as_deref(), args.common.quiet)?;
    dataset.check_same(&then.record.data_checksum)?;
    rivalry::train::check(&dataset, &then.config)?;
    let place = Place::new(args.out.as_deref())?;
    let folder = RunFolder::create(place.path(), &then.config, false)?;
    if !args.common.quiet {
        print_data_summary(&dataset);
        print_model_summary(&then.config);
    }
    signals::listen()?;
    train(&folder, &dataset, &then.config, None, args.common.quiet)?;
    let agreement = Agreement::of(&then, &FinishedRun::open(folder.path())?)?;
    if args.common.json {
        print_json(&Document { run: &args.run, agreement: &agreement })?;
    } else if agreement.same {
        let compared = if agreement.model_compared {
            "model, log and figures"
        } else {
            "log and figures (the run keeps no model)"
        };
        print(format_args!("the same to the bit: {compared} of {}", args.run.display()))?;
    }
    if agreement.same {
        return Ok(());
    }
    for circumstance in &agreement.circumstances {
        say(format_args!("note    {circumstance}"));
    }
    Err(Error::Unverified { what: agreement.differences.join("\n  ") }.into())
}

/// Where the repetition is trained: where it was asked for, or in a folder that goes when all is said.
enum Place {
    Asked(PathBuf),
    Passing(tempfile::TempDir),
}

impl Place {
    fn new(out: Option<&Path>) -> Result<Self, Error> {
        match out {
            Some(out) => Ok(Self::Asked(out.to_owned())),
            None => tempfile::tempdir()
                .map(Self::Passing)
                .map_err(|e| Error::io("create", std::env::temp_dir(), e)),
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Asked(path) => path,
            Self::Passing(folder) => folder.path(),
        }
    }
}
