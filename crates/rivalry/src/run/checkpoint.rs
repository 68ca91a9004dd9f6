//! The checkpoint: all that the rest of a training depends on.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::model_file::check_format;
use super::tensors::{Tensors, broken};
use crate::backbone::Embeddings;
use crate::train::{AdamState, Moment, Progress, Stopped};
use crate::{Result, loss};

const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Header {
    progress: Progress,
    data_checksum: String,
    adam_steps: u64,
    rival_steps: Option<u64>,
    loss: loss::State,
}

/// Writes all that the rest of a training depends on.
pub(super) fn write(path: &Path, progress: &Progress, moment: Moment<'_>, data_checksum: &str) -> Result<()> {
    let mut file = Tensors::default();
    put(&mut file, "model", moment.learned, moment.optim);
    if let Some((learned, optim)) = moment.rival {
        put(&mut file, "rival", learned, optim);
    }
    let header = Header {
        progress: progress.clone(),
        data_checksum: data_checksum.to_owned(),
        adam_steps: moment.optim.steps,
        rival_steps: moment.rival.map(|(_, optim)| optim.steps),
        loss: moment.loss,
    };
    let header = serde_json::to_string(&header).expect("progress is plain data");
    file.texts.insert("format".to_owned(), format!("rivalry-checkpoint {FORMAT}"));
    file.texts.insert("progress".to_owned(), header);
    file.write(path)
}

/// Reads a checkpoint and the checksum of its data. The tables of the best epoch are in the model file.
pub(super) fn read(path: &Path) -> Result<(Stopped, String)> {
    let mut file = Tensors::read(path)?;
    check_format(path, file.texts.get("format"), "rivalry-checkpoint", FORMAT)?;
    let header = file.texts.get("progress").and_then(|text| serde_json::from_str(text).ok());
    let Header { progress, data_checksum, adam_steps, rival_steps, loss } =
        header.ok_or_else(|| broken(path, "its progress can't be read"))?;
    let (learned, optim) = take(&mut file, path, "model", adam_steps)?;
    let rival = match rival_steps {
        Some(steps) => Some(take(&mut file, path, "rival", steps)?),
        None => None,
    };
    Ok((Stopped { progress, learned, optim, rival, loss, best: None }, data_checksum))
}

const TABLES: [&str; 3] = ["learned", "adam.first", "adam.second"];

fn put(file: &mut Tensors, whose: &str, learned: &Embeddings, optim: &AdamState) {
    for (name, tables) in TABLES.iter().zip([learned, &optim.first, &optim.second]) {
        file.put_matrix(&format!("{whose}.{name}.users"), &tables.users);
        file.put_matrix(&format!("{whose}.{name}.items"), &tables.items);
    }
}

fn take(file: &mut Tensors, path: &Path, whose: &str, steps: u64) -> Result<(Embeddings, AdamState)> {
    let mut tables = |name: &str| -> Result<Embeddings> {
        Ok(Embeddings {
            users: file.take_matrix(path, &format!("{whose}.{name}.users"))?,
            items: file.take_matrix(path, &format!("{whose}.{name}.items"))?,
        })
    };
    let (learned, first, second) = (tables(TABLES[0])?, tables(TABLES[1])?, tables(TABLES[2])?);
    let size = |tables: &Embeddings| {
        [tables.users.rows(), tables.users.cols(), tables.items.rows(), tables.items.cols()]
    };
    if size(&learned) != size(&first)
        || size(&learned) != size(&second)
        || learned.users.cols() != learned.dim()
    {
        return Err(broken(path, "its tables are of different sizes").into());
    }
    Ok((learned, AdamState { first, second, steps }))
}
