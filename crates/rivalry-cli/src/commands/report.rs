//! `rivalry report`

use std::io::Write;
use std::path::{Path, PathBuf};

use rivalry::files::write_atomically;
use rivalry::{Error, InputError, Result};
use rivalry_report::Report;
use serde_json::json;

use super::refuse_existing;
use crate::args::ReportArgs;
use crate::output::{print, print_json, say};

pub fn run(args: &ReportArgs) -> anyhow::Result<()> {
    refuse_existing(&args.out, args.force).map_err(Error::from)?;
    if args.out.is_dir() {
        let error = InputError::new("is a folder").file(&args.out);
        return Err(Error::from(error.help("give a file name, such as -o report.html")).into());
    }
    if let Some(folder) = &args.figures {
        refuse_non_empty(folder, args.force)?;
    }
    let report = Report::read(&args.folder)?;
    let contents = report.contents();
    say(format_args!(
        "read {} run{}: {} unfinished, {} pruned",
        contents.runs,
        if contents.runs == 1 { "" } else { "s" },
        contents.unfinished.len(),
        contents.pruned
    ));
    write(&args.out, report.html().as_bytes())?;
    let figures = match &args.figures {
        Some(folder) => write_figures(folder, &report)?,
        None => Vec::new(),
    };
    if args.json {
        print_json(&json!({
            "folder": args.folder,
            "report": args.out,
            "figures": figures,
            "runs": contents.runs,
            "finished": contents.runs - contents.unfinished.len() - contents.pruned,
            "unfinished": contents.unfinished,
            "pruned": contents.pruned,
            "inspected": contents.inspected,
            "data": contents.data,
            "losses": contents.losses,
            "groups": contents.groups,
        }))?;
        return Ok(());
    }
    print(format_args!("report  {}", args.out.display()))?;
    if let Some(folder) = &args.figures {
        print(format_args!("figures {}, {} files", folder.display(), figures.len()))?;
    }
    Ok(())
}

/// Refuses a folder that is not empty, or a path that is not a folder.
fn refuse_non_empty(folder: &Path, force: bool) -> Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    let mut entries = folder.read_dir().map_err(|_| InputError::new("not a readable folder").file(folder))?;
    if force || entries.next().is_none() {
        return Ok(());
    }
    let help = "choose another folder, or add --force to overwrite files of the same names";
    Err(InputError::new("is not empty").file(folder).help(help).into())
}

fn write_figures(folder: &Path, report: &Report) -> Result<Vec<PathBuf>> {
    std::fs::create_dir_all(folder).map_err(|e| Error::io("create", folder, e))?;
    let mut written = Vec::new();
    for (name, figure) in report.figures() {
        let path = folder.join(format!("{name}.svg"));
        write(&path, figure.svg().as_bytes())?;
        written.push(path);
    }
    Ok(written)
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    write_atomically(path, |file| file.write_all(bytes))
}
