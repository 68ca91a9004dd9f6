//! `rivalry report`

use std::path::{Path, PathBuf};

use rivalry::files::Output;
use rivalry::{Error, InputError, Result};
use rivalry_report::Report;
use rivalry_runs::run::output_to;
use serde_json::json;

use super::use_machine;
use crate::args::ReportArgs;
use crate::counting::CountingBar;
use crate::output::{print, print_json, say};

pub fn run(args: &ReportArgs) -> anyhow::Result<()> {
    let output = html_output(args)?;
    if let Some(folder) = &args.figures {
        refuse_non_empty(folder, args.force)?;
    }
    use_machine(&args.machine)?;
    let bar = CountingBar::new("runs compared");
    let options = args.machine.load_options(args.data_dir.as_deref());
    let report = Report::read(&args.folder, &options, &mut |done, total| bar.update(done, total))?;
    drop(bar);
    let contents = report.contents();
    say(format_args!("read {}", contents.runs));
    for fault in &contents.damaged {
        say(format_args!("warning: left out a run: {fault}"));
    }
    output.write_all(report.html().as_bytes())?;
    let figures = match &args.figures {
        Some(folder) => write_figures(folder, &report, args.force)?,
        None => Vec::new(),
    };
    if args.json {
        print_json(&json!({
            "folder": args.folder,
            "report": args.out,
            "figures": figures,
            "runs": contents.runs.total(),
            "finished": contents.runs.finished,
            "unfinished": contents.unfinished,
            "failed": contents.failed,
            "damaged": contents.damaged,
            "pruned": contents.runs.pruned,
            "inspected": contents.inspected,
            "data": contents.data,
            "losses": contents.losses,
            "groups": contents.groups,
        }))?;
        return Ok(());
    }
    if output.is_standard_output() {
        return Ok(());
    }
    print(format_args!("report  {}", args.out.display()))?;
    if let Some(folder) = &args.figures {
        print(format_args!("figures {}, {} files", folder.display(), figures.len()))?;
    }
    Ok(())
}

/// Where the report goes: an HTML file or a stream.
fn html_output(args: &ReportArgs) -> Result<Output> {
    let output = output_to(&args.out, args.force)?;
    let extension = args.out.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    if output.file().is_some() && !["html", "htm"].contains(&&*extension) {
        let error = InputError::new("a report is an HTML file").file(&args.out);
        return Err(error.help("give a name that ends in .html, such as -o report.html").into());
    }
    if output.is_standard_output() && args.json {
        let error = InputError::new("standard output can't hold both").field("--out, --json");
        return Err(error.help("write the report to a file").into());
    }
    Ok(output)
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

fn write_figures(folder: &Path, report: &Report, force: bool) -> Result<Vec<PathBuf>> {
    std::fs::create_dir_all(folder).map_err(|e| Error::io("create", folder, e))?;
    let mut written = Vec::new();
    for (name, figure) in report.figures() {
        let path = folder.join(format!("{name}.svg"));
        output_to(&path, force)?.write_all(figure.svg().as_bytes())?;
        written.push(path);
    }
    Ok(written)
}
