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
        let error = InputError::new("is a folder, and a report is a file").file(&args.out);
        return Err(Error::from(error.help("give a file, such as -o report.html")).into());
    }
    if let Some(folder) = &args.figures {
        refuse_filled(folder, args.force)?;
    }
    let report = Report::read(&args.folder)?;
    let contents = report.contents();
    say(format_args!(
        "read {} run{}, {} of them unfinished, {} dropped by a sweep",
        contents.runs,
        if contents.runs == 1 { "" } else { "s" },
        contents.unfinished.len(),
        contents.given_up
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
            "finished": contents.runs - contents.unfinished.len() - contents.given_up,
            "unfinished": contents.unfinished,
            "given_up": contents.given_up,
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

/// Refuses a folder for figures that holds anything, or that is none.
fn refuse_filled(folder: &Path, force: bool) -> Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    let mut entries =
        folder.read_dir().map_err(|_| InputError::new("is no folder that can be read").file(folder))?;
    if force || entries.next().is_none() {
        return Ok(());
    }
    let help = "choose another folder, or add --force to replace the files of the same names";
    Err(InputError::new("holds files already").file(folder).help(help).into())
}

fn write_figures(folder: &Path, report: &Report) -> Result<Vec<PathBuf>> {
    std::fs::create_dir_all(folder).map_err(|e| Error::io("create", folder, e))?;
    let mut written = Vec::new();
    for (name, figure) in report.figures() {
        for (ending, bytes) in [("svg", figure.svg().into_bytes()), ("png", figure.png())] {
            let path = folder.join(format!("{name}.{ending}"));
            write(&path, &bytes)?;
            written.push(path);
        }
    }
    Ok(written)
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    write_atomically(path, |file| file.write_all(bytes))
}
