//! The published values that a run can be compared with.

use rivalry::data::catalogue;
use rivalry::eval::{Average, Mask};
use rivalry_runs::presets::{CellKey, PaperCell, paper_cells};

use crate::run::Run;
use crate::settings::CONDITIONS;

/// The published cell of a run's data set, backbone and loss; none if the data were prepared differently or have added
/// noise.
pub(crate) fn published(run: &Run) -> Option<&'static PaperCell> {
    let data = &run.config.data;
    let entry = catalogue().iter().find(|entry| entry.name == data.source)?;
    let noisy = CONDITIONS.iter().any(|condition| run.settings.level(condition) != 0.0);
    if noisy || entry.preparation != data.prepare {
        return None;
    }
    let key = CellKey::new(&data.source, run.backbone(), run.loss());
    paper_cells().iter().find(|cell| cell.key == key)
}

/// Whether a run was evaluated under the protocol of the published values.
pub(crate) fn is_published_protocol(run: &Run) -> bool {
    (run.config.eval.mask, run.config.eval.average) == (Mask::Train, Average::All)
}
