//! The checkpoint: all that the rest of a training depends on.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::model_file::check_format;
use super::tensors::{Tensors, broken};
use crate::Result;
use crate::backbone::Embeddings;
use crate::train::{AdamState, Progress};

const FORMAT: u32 = 1;

/// A training, stopped between two steps.
pub(crate) struct Checkpoint {
    pub progress: Progress,
    pub learned: Embeddings,
    pub optim: AdamState,
    pub data_checksum: String,
}

#[derive(Serialize, Deserialize)]
struct Header {
    progress: Progress,
    adam_steps: u64,
    data_checksum: String,
}

const TABLES: [&str; 3] = ["learned", "adam.first", "adam.second"];

impl Checkpoint {
    pub fn write(
        path: &Path,
        progress: &Progress,
        learned: &Embeddings,
        optim: &AdamState,
        data_checksum: &str,
    ) -> Result<()> {
        let mut file = Tensors::default();
        for (name, tables) in TABLES.iter().zip([learned, &optim.first, &optim.second]) {
            file.put_matrix(&format!("{name}.users"), &tables.users);
            file.put_matrix(&format!("{name}.items"), &tables.items);
        }
        let (progress, data_checksum) = (progress.clone(), data_checksum.to_owned());
        let header = Header { progress, adam_steps: optim.steps, data_checksum };
        let header = serde_json::to_string(&header).expect("progress is plain data");
        file.texts.insert("format".to_owned(), format!("rivalry-checkpoint {FORMAT}"));
        file.texts.insert("progress".to_owned(), header);
        file.write(path)
    }

    pub fn read(path: &Path) -> Result<Self> {
        let mut file = Tensors::read(path)?;
        check_format(path, file.texts.get("format"), "rivalry-checkpoint", FORMAT)?;
        let header = file.texts.get("progress").and_then(|text| serde_json::from_str(text).ok());
        let Header { progress, adam_steps, data_checksum } =
            header.ok_or_else(|| broken(path, "its progress can't be read"))?;
        let mut tables = |name: &str| -> Result<Embeddings> {
            Ok(Embeddings {
                users: file.take_matrix(path, &format!("{name}.users"))?,
                items: file.take_matrix(path, &format!("{name}.items"))?,
            })
        };
        let (learned, first, second) = (tables(TABLES[0])?, tables(TABLES[1])?, tables(TABLES[2])?);
        let size = |tables: &Embeddings| {
            [tables.users.rows(), tables.items.rows(), tables.users.cols(), tables.dim()]
        };
        if size(&learned) != size(&first)
            || size(&learned) != size(&second)
            || learned.users.cols() != learned.dim()
        {
            return Err(broken(path, "its tables are of different sizes").into());
        }
        let optim = AdamState { first, second, steps: adam_steps };
        Ok(Self { progress, learned, optim, data_checksum })
    }
}
