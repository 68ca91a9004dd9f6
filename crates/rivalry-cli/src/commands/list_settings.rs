//! `rivalry list settings`

use rivalry::config::{SettingEntry, settings};
use serde::Serialize;

use crate::args::flags_by_key;
use crate::output::{print, print_json};

/// A setting with the flags of `rivalry train` that set it.
#[derive(Serialize)]
struct Described {
    #[serde(flatten)]
    setting: SettingEntry,
    flags: Vec<String>,
}

pub fn run(json: bool) -> anyhow::Result<()> {
    let mut flags = flags_by_key();
    let described = settings().into_iter().map(|setting| {
        let flags = flags.remove(&setting.key).unwrap_or_default();
        Described { setting, flags }
    });
    let described: Vec<Described> = described.collect();
    if json {
        print_json(&described)?;
        return Ok(());
    }
    for Described { setting, flags } in &described {
        let default = setting.default.as_ref().map(|default| format!("  = {default}")).unwrap_or_default();
        let by_loss = setting.default_by_loss.iter().map(|(loss, default)| format!(", {default} for {loss}"));
        let flags = if flags.is_empty() { String::new() } else { format!("  {}", flags.join(", ")) };
        print(format_args!("{}{default}{}{flags}", setting.key, by_loss.collect::<String>()))?;
        let of = match setting.of.is_empty() {
            true => String::new(),
            false => format!(" [{}]", setting.of.join(", ")),
        };
        let legal = if setting.range.is_empty() { String::new() } else { format!(" {}", setting.range) };
        print(format_args!("    {}{of}", setting.doc))?;
        print(format_args!("    {}{legal}", setting.kind))?;
    }
    Ok(())
}
