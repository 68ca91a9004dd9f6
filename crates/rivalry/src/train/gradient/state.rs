//! The state of a training that several processes share: gathered on rank 0 to be saved, scattered from there to be resumed.
//!
//! Each process has the rows of its users; items and all else are the same on all ranks.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use rivalry_kernels::{LANES, Lane};
use serde::{Deserialize, Serialize};

use crate::backbone::Embeddings;
use crate::collective::Collective;
use crate::model::LEARNED;
use crate::optim::{OptimizerState, StateRef};
use crate::tensors::Tensors;
use crate::train::{Progress, TrainingState};
use crate::{Matrix, Result, loss};

/// These rows as a table of their own.
pub(super) fn rows_of(table: &Matrix, rows: Range<usize>) -> Matrix {
    table.gather(&Vec::from_iter(rows.start as u32..rows.end as u32))
}

/// The tables with the users of all processes on rank 0; as they are on the others.
pub(super) fn whole<'a>(collective: &dyn Collective, tables: &'a Embeddings) -> Cow<'a, Embeddings> {
    if collective.size() == 1 {
        return Cow::Borrowed(tables);
    }
    let parts = collective.gather(bytemuck::cast_slice(tables.users.as_lanes()));
    if !collective.is_root() {
        return Cow::Borrowed(tables);
    }
    let lanes = tables.users.lanes();
    let rows = parts.iter().map(Vec::len).sum::<usize>() / (lanes * size_of::<Lane>());
    let mut users = Matrix::zeros(rows, tables.users.cols());
    let mut place: &mut [u8] = bytemuck::cast_slice_mut(users.as_lanes_mut());
    for part in parts {
        let (here, rest) = place.split_at_mut(part.len());
        here.copy_from_slice(&part);
        place = rest;
    }
    Cow::Owned(Embeddings { users, items: tables.items.clone() })
}

/// [`whole`] for the state of an optimiser.
pub(super) fn whole_state<'a>(collective: &dyn Collective, state: &'a StateRef<'_>) -> StateRef<'a> {
    let tables = state.tables.iter().map(|(name, tables)| (*name, whole(collective, tables))).collect();
    StateRef { steps: state.steps, tables }
}

/// [`whole`] for the tensors of a model.
///
/// # Errors
/// If they are not those of a model with learned tables.
pub(super) fn whole_tensors<'a>(
    collective: &dyn Collective,
    tensors: &'a Tensors,
) -> Result<Cow<'a, Tensors>> {
    if collective.size() == 1 {
        return Ok(Cow::Borrowed(tensors));
    }
    let mut all = Tensors::default();
    all.put_embeddings(LEARNED, &whole(collective, &tensors.get_embeddings(LEARNED)?));
    Ok(Cow::Owned(all))
}

/// What the processes must know of a state before they get its tables.
#[derive(Serialize, Deserialize)]
struct Header {
    progress: Progress,
    loss: loss::State,
    optim: Steps,
    adversary: Option<Steps>,
    best: bool,
}

/// An optimiser's steps and the names of its tables.
#[derive(Serialize, Deserialize)]
struct Steps {
    steps: u64,
    tables: Vec<String>,
}

impl Steps {
    fn of(state: &OptimizerState) -> Self {
        Self { steps: state.steps, tables: state.tables.keys().cloned().collect() }
    }
}

/// The state that rank 0 has, with the rows of these users; `None` if it has none.
///
/// # Errors
/// If the model of the best epoch has no learned tables.
pub(super) fn scattered(
    collective: &dyn Collective,
    from: Option<TrainingState>,
    users: Range<usize>,
) -> Result<Option<TrainingState>> {
    if collective.size() == 1 {
        return Ok(from);
    }
    let best = from.as_ref().and_then(|state| state.best.as_ref());
    let best =
        collective.agree(best.map(|best| best.get_embeddings(LEARNED)).transpose().map_err(Into::into))?;
    let header = from.as_ref().map(|state| Header {
        progress: state.progress.clone(),
        loss: state.loss.clone(),
        optim: Steps::of(&state.optim),
        adversary: state.adversary.as_ref().map(|(_, optim)| Steps::of(optim)),
        best: best.is_some(),
    });
    let header = serde_json::to_vec(&header).expect("progress is plain data");
    let header: Option<Header> =
        serde_json::from_slice(&collective.broadcast(header)).expect("what rank 0 has written");
    let Some(Header { progress, loss, optim, adversary, best: has_best }) = header else { return Ok(None) };
    let part = |tables: Option<&Embeddings>| my_part(collective, tables, users.clone());
    let optimizer = |steps: Steps, state: Option<&OptimizerState>| {
        let table = |name: String| {
            let table = part(state.and_then(|state| state.tables.get(&name)));
            (name, table)
        };
        let tables: BTreeMap<_, _> = steps.tables.into_iter().map(table).collect();
        OptimizerState { steps: steps.steps, tables }
    };
    let learned = part(from.as_ref().map(|state| &state.learned));
    let optim = optimizer(optim, from.as_ref().map(|state| &state.optim));
    let saved = from.as_ref().and_then(|state| state.adversary.as_ref());
    let adversary = adversary.map(|steps| {
        let learned = part(saved.map(|(learned, _)| learned));
        (learned, optimizer(steps, saved.map(|(_, optim)| optim)))
    });
    let best = has_best.then(|| {
        let mut tensors = Tensors::default();
        tensors.put_embeddings(LEARNED, &part(best.as_ref()));
        tensors
    });
    Ok(Some(TrainingState { progress, learned, optim, adversary, loss, best }))
}

/// The tables of rank 0, with the rows of these users.
fn my_part(collective: &dyn Collective, tables: Option<&Embeddings>, users: Range<usize>) -> Embeddings {
    let [all, items] = [0, 1].map(|which| {
        let table = tables.map(|tables| tables.tables()[which]);
        let shape = table.map_or([0; 2], |table| [table.rows() as u64, table.cols() as u64]);
        let mut message = bytemuck::cast_slice::<u64, u8>(&shape).to_vec();
        let lanes: &[Lane] = table.map_or(&[], Matrix::as_lanes);
        message.extend_from_slice(bytemuck::cast_slice(lanes));
        let message = collective.broadcast(message);
        let (shape, rows) = message.split_at(2 * size_of::<u64>());
        let shape: Vec<u64> = bytemuck::pod_collect_to_vec(shape);
        let mut table = Matrix::zeros(shape[0] as usize, shape[1] as usize);
        debug_assert_eq!(table.lanes(), (shape[1] as usize).div_ceil(LANES));
        bytemuck::cast_slice_mut::<Lane, u8>(table.as_lanes_mut()).copy_from_slice(rows);
        table
    });
    // Models whose users are made of their items have no rows of users.
    let users = if all.rows() == 0 { 0..0 } else { users };
    Embeddings { users: rows_of(&all, users), items }
}
