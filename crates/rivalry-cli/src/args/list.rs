//! `rivalry list`

use clap::{Args, ValueEnum};

/// `rivalry list`
#[derive(Debug, Args)]
pub struct ListArgs {
    /// What to list
    #[arg(value_enum)]
    pub kind: ListKind,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The lists.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ListKind {
    /// Models (--model)
    Models,
    /// Models trained by gradients; the old name of part of 'models'
    #[value(hide = true)]
    Backbones,
    /// Losses of models trained by gradients (--loss)
    Losses,
    /// Negative samplers (--set sampler.type=NAME)
    Samplers,
    /// Optimisers (--set optim.type=NAME)
    Optimizers,
    /// Named data sets (--data)
    Datasets,
    /// Evaluation metrics
    Metrics,
    /// Test splits (--split)
    Splits,
    /// Validation splits (--validation)
    Validations,
    /// Input file formats (--format)
    Formats,
    /// Every setting of a config (--set KEY=VALUE)
    Settings,
    /// Published and tuned settings (--preset)
    Presets,
}
