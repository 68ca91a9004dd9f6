//! The checkpoint file: everything that the rest of a training depends on.

use std::path::Path;

use rivalry::backbone::Embeddings;
use rivalry::optim::{OptimizerState, StateRef};
use rivalry::tensors::{Tensors, broken};
use rivalry::train::{Progress, Snapshot, TrainingState};
use rivalry::{InputError, Result, loss};
use serde::{Deserialize, Serialize};

/// The version that is written, and the newest that is read.
const FORMAT: u32 = 3;

/// What the tables of the model and of the adversary are called. Format 1 has another name for the adversary.
const MODEL: &str = "model";
const ADVERSARY: &str = "adversary";
const ADVERSARY_IN_FORMAT_1: &str = "rival";

#[derive(Serialize, Deserialize)]
struct Header {
    progress: Progress,
    data_checksum: String,
    #[serde(alias = "adam_steps")]
    steps: u64,
    #[serde(alias = "rival_steps")]
    adversary_steps: Option<u64>,
    loss: loss::State,
}

/// Writes a checkpoint.
pub(super) fn write(
    path: &Path,
    progress: &Progress,
    snapshot: &Snapshot<'_>,
    data_checksum: &str,
) -> Result<()> {
    let mut file = Tensors::default();
    put(&mut file, MODEL, snapshot.learned, &snapshot.optim);
    if let Some((learned, optim)) = &snapshot.adversary {
        put(&mut file, ADVERSARY, learned, optim);
    }
    let header = Header {
        progress: progress.clone(),
        data_checksum: data_checksum.to_owned(),
        steps: snapshot.optim.steps,
        adversary_steps: snapshot.adversary.as_ref().map(|(_, optim)| optim.steps),
        loss: snapshot.loss.clone(),
    };
    let header = serde_json::to_string(&header).expect("progress is plain data");
    file.texts.insert("format".to_owned(), format!("rivalry-checkpoint {FORMAT}"));
    file.texts.insert("progress".to_owned(), header);
    file.write(path)
}

/// Reads a checkpoint and the checksum of its data. The model of the best epoch is in the model file.
pub(super) fn read(path: &Path) -> Result<(TrainingState, String)> {
    Ok(parse(&Tensors::read(path)?).map_err(|fault| fault.file(path))?)
}

fn parse(file: &Tensors) -> Result<(TrainingState, String), InputError> {
    file.check_format("rivalry-checkpoint", FORMAT)?;
    let header = file.texts.get("progress").and_then(|text| serde_json::from_str(text).ok());
    let Header { progress, data_checksum, steps, adversary_steps, loss } =
        header.ok_or_else(|| broken("its progress can't be read"))?;
    let (learned, optim) = take(file, MODEL, steps)?;
    let adversary = match adversary_steps {
        Some(steps) => {
            let named = |name: &str| file.names().any(|tensor| tensor.starts_with(name));
            let name = if named(ADVERSARY_IN_FORMAT_1) { ADVERSARY_IN_FORMAT_1 } else { ADVERSARY };
            Some(take(file, name, steps)?)
        }
        None => None,
    };
    Ok((TrainingState { progress, learned, optim, adversary, loss, best: None }, data_checksum))
}

fn put(file: &mut Tensors, whose: &str, learned: &Embeddings, optim: &StateRef<'_>) {
    file.put_embeddings(&format!("{whose}.learned"), learned);
    for (name, tables) in &optim.tables {
        file.put_embeddings(&format!("{whose}.{name}"), tables);
    }
}

fn take(file: &Tensors, whose: &str, steps: u64) -> Result<(Embeddings, OptimizerState), InputError> {
    let learned = file.get_embeddings(&format!("{whose}.learned"))?;
    let prefix = format!("{whose}.");
    let tables = file.names().filter_map(|name| name.strip_prefix(&prefix)?.strip_suffix(".users"));
    let tables = tables.filter(|name| *name != "learned");
    let tables = tables.map(|name| Ok((name.to_owned(), file.get_embeddings(&format!("{prefix}{name}"))?)));
    let tables: std::collections::BTreeMap<_, _> = tables.collect::<Result<_, InputError>>()?;
    let size = |tables: &Embeddings| (tables.users.rows(), tables.items.rows());
    if tables.values().any(|table| size(table) != size(&learned)) {
        return Err(broken("its tables are of different sizes"));
    }
    Ok((learned, OptimizerState { steps, tables }))
}
