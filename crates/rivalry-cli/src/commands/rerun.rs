//! `rivalry rerun`

use std::path::{Path, PathBuf};

use rivalry::Error;
use rivalry::train::trainer;
use rivalry_runs::run::{Agreement, FinishedRun, RunFolder};
use serde::Serialize;

use super::{RunData, refuse_update, use_machine};
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
    let original = FinishedRun::open(&args.run)?;
    // A damaged model is reported before the training, not after it.
    if original.folder.has_model() {
        original.folder.model()?;
    }
    let machine = &args.common.machine;
    let FinishedRun { folder, config, .. } = &original;
    refuse_update(folder)?;
    let data = RunData { folder, config, moved_to: args.data.as_deref() };
    let dataset = data.load(machine.load_options(args.data_dir.as_deref()), args.common.quiet)?;
    let standard_input = original.folder.standard_input()?;
    dataset.check_same(&original.record.data_checksum)?;
    trainer(&original.config, machine.memory()).check(&dataset)?;
    let out = OutputFolder::new(args.out.as_deref())?;
    let folder = RunFolder::create(out.path(), &original.config, false)?;
    standard_input.map_or(Ok(()), |content| folder.keep_standard_input(&content))?;
    if !args.common.quiet {
        print_data_summary(&dataset);
        print_model_summary(&original.config, &dataset);
    }
    signals::listen()?;
    train(&folder, &dataset, &original.config, None, &args.common)?;
    let agreement = Agreement::of(&original, &FinishedRun::open(folder.path())?)?;
    if args.common.json {
        print_json(&Document { run: &args.run, agreement: &agreement })?;
    } else if agreement.same {
        let compared = if agreement.model_compared {
            "model, log and metrics"
        } else {
            "log and metrics (the run has no model file)"
        };
        print(format_args!("bit-identical: {compared} of {}", args.run.display()))?;
    }
    if agreement.same {
        return Ok(());
    }
    for circumstance in &agreement.circumstances {
        say(format_args!("note    {circumstance}"));
    }
    Err(Error::Unverified { what: agreement.differences.join("\n  ") }.into())
}

/// The folder of the new run: the one given by `--out`, or a temporary one.
enum OutputFolder {
    Given(PathBuf),
    Temporary(tempfile::TempDir),
}

impl OutputFolder {
    fn new(out: Option<&Path>) -> Result<Self, Error> {
        match out {
            Some(out) => Ok(Self::Given(out.to_owned())),
            None => tempfile::tempdir()
                .map(Self::Temporary)
                .map_err(|e| Error::io("create", std::env::temp_dir(), e)),
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Given(path) => path,
            Self::Temporary(folder) => folder.path(),
        }
    }
}
