//! Published metrics of the same data, model and loss.

use rivalry::data::catalogue;
use rivalry::eval::{Average, Mask};
use rivalry_runs::presets::{CellKey, PaperCell, paper_cells};

use crate::run::Run;
use crate::settings::CONDITIONS;

/// The published cell of a run's data set, model and loss; `None` if the data were split differently or noise was added.
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

/// Whether a run was evaluated by the published protocol.
pub(crate) fn published_protocol(run: &Run) -> bool {
    (run.config.eval.mask, run.config.eval.average) == (Mask::Train, Average::All)
}
