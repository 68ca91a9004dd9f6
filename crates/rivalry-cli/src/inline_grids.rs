//! `--grid`: values to search, given on the command line.

use rivalry::config::setting_layer;
use rivalry::{InputError, Result};
use rivalry_runs::settings::Settings;
use rivalry_runs::sweep::LossGrid;

/// What all `--grid` flags say together.
#[derive(Debug, Default, PartialEq)]
pub struct InlineGrids {
    /// The values of each key.
    pub keys: Vec<(String, Vec<toml::Value>)>,
    paper: bool,
}

impl InlineGrids {
    /// Reads the flags: `paper`, or `KEY=VALUE,VALUE,…`.
    ///
    /// # Errors
    /// If one is neither, or a key is given twice.
    pub fn parse(flags: &[String]) -> Result<Self> {
        let mut grids = Self::default();
        for flag in flags {
            let wrong = |what: String, help: &str| InputError::new(what).field("--grid").help(help);
            let Some((key, values)) = flag.split_once('=') else {
                if flag != "paper" {
                    let help = "write --grid loss.tau=0.1,0.2,0.3, or --grid paper for the published grids";
                    return Err(
                        wrong(format!("expected KEY=VALUE,VALUE or paper, found '{flag}'"), help).into()
                    );
                }
                grids.paper = true;
                continue;
            };
            let key = key.trim();
            if key == "loss.type" {
                return Err(wrong(
                    "'loss.type' can't be searched here".to_owned(),
                    "give each loss by --loss NAME",
                )
                .into());
            }
            if grids.keys.iter().any(|(known, _)| known == key) {
                return Err(
                    wrong(format!("'{key}' is given twice"), "give all its values in one --grid").into()
                );
            }
            let values = values.trim().trim_start_matches('[').trim_end_matches(']').split(',');
            let value = |text: &str| {
                let text = text.trim();
                let layer = setting_layer(&format!("{key}={text}"))?;
                let value = Settings::from_table(&layer).get(key).cloned();
                value.filter(|_| !text.is_empty()).ok_or_else(|| {
                    wrong(format!("'{flag}' lacks a value"), "write --grid loss.tau=0.1,0.2,0.3").into()
                })
            };
            let values = values.map(value).collect::<Result<_>>()?;
            grids.keys.push((key.to_owned(), values));
        }
        Ok(grids)
    }

    /// What is searched of a closed-form model besides these keys.
    pub fn of_models(&self) -> LossGrid {
        match self.keys.iter().any(|(key, _)| key.starts_with("model.")) {
            true => LossGrid::Empty,
            false => LossGrid::BuiltIn,
        }
    }

    /// What is searched of a loss besides these keys.
    pub fn of_losses(&self) -> LossGrid {
        match (self.paper, self.keys.is_empty()) {
            (true, _) => LossGrid::Paper,
            (false, true) => LossGrid::BuiltIn,
            (false, false) => LossGrid::Empty,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(flags: &[&str]) -> Result<InlineGrids> {
        InlineGrids::parse(&flags.iter().map(|flag| (*flag).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn values_have_the_types_of_a_config() {
        let grids =
            parse(&["loss.tau=0.1, 0.2", "train.epochs=[5,10]", "sampler.type=uniform,hard"]).unwrap();
        let texts = |n: usize| grids.keys[n].1.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!((texts(0), texts(1)), (vec!["0.1".into(), "0.2".into()], vec!["5".into(), "10".into()]));
        assert_eq!(grids.keys[2].1, ["uniform".into(), "hard".into()]);
        assert_eq!(grids.of_losses(), LossGrid::Empty);
        assert_eq!(parse(&["paper"]).unwrap().of_losses(), LossGrid::Paper);
        assert_eq!(parse(&[]).unwrap().of_losses(), LossGrid::BuiltIn);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |flags: &[&str]| parse(flags).unwrap_err().to_string();
        assert!(error(&["papr"]).starts_with("--grid: expected KEY=VALUE,VALUE or paper, found 'papr'"));
        assert!(error(&["loss.tau=0.1,,0.2"]).contains("lacks a value"));
        assert!(error(&["loss.tau=1", "loss.tau=2"]).contains("given twice"));
        assert!(error(&["loss.type=sl,bpr"]).contains("--loss NAME"));
    }
}
