//! One training step: negatives, scores, loss, gradients, Adam.
//!
//! The negatives of a row are put in the order of the blocks of the item table they fall in. Scores and user
//! gradients are then computed block by block, with the block's rows in the second-level cache. Item gradients
//! are computed by one task a block, which alone writes there and goes through the batch in order: no locks, no
//! tables for each thread, and the same bits whatever the number of threads.

use rayon::prelude::*;
use rivalry_kernels::{Lane, Matrix, ZERO, add_to_rows, add_weighted_rows, dots, dots_pair};

use super::blocks::{Blocks, segment};
use super::model::Model;
use super::optim::{AdamConfig, AdamState};
use crate::backbone::Embeddings;
use crate::data::Interactions;
use crate::loss::{Companions, Gradients, Loss, Row, RowLoss, State, Turn};

/// Rows of the batch a task works on at a time.
const CHUNK: usize = 32;

/// Training pairs, and where their negatives come from.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    /// The users.
    pub users: &'a [u32],
    /// The positive item of each.
    pub items: &'a [u32],
    /// Fills in the negatives of a row of the batch.
    pub negatives: &'a (dyn Fn(usize, &mut [u32]) + Sync),
    /// The training set, for losses that look at a user's other items.
    pub train: &'a Interactions,
    /// The epoch, counted from 0.
    pub epoch: usize,
    /// The batch within the epoch, counted from 0.
    pub batch: usize,
    /// What a backbone's own randomness starts from.
    pub seed: u64,
}

/// A model and the optimiser that moves it.
pub struct Player {
    model: Model,
    optim: AdamState,
    adam: AdamConfig,
    grads: Embeddings,
}

impl Player {
    /// A model at the start of its training.
    pub fn new(model: Model, adam: AdamConfig) -> Self {
        let Embeddings { users, items } = model.learned();
        let optim = AdamState::new(users.rows(), items.rows(), items.cols());
        Self { grads: Embeddings::zeros(users.rows(), items.rows(), items.cols()), model, optim, adam }
    }

    /// The same, with an optimiser that has already taken steps.
    #[must_use]
    pub fn with_optim(mut self, optim: AdamState) -> Self {
        self.optim = optim;
        self
    }

    /// The model as it stands.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The optimiser as it stands.
    pub fn optim(&self) -> &AdamState {
        &self.optim
    }

    fn move_along_gradients(&mut self) {
        let step = self.optim.next(&self.adam);
        self.model.update(&mut self.grads, &mut self.optim, &step);
    }
}

/// A loss, the model it trains, the rival it may have, and the memory a step works in.
pub struct Stepper {
    loss: Box<dyn Loss>,
    player: Player,
    rival: Option<Player>,
    n_negatives: usize,
    /// Numbers a row of `Work::seen` takes.
    seen_width: usize,
    blocks: Blocks,
    work: Work,
}

/// What is known of each row of a batch.
#[derive(Default)]
struct Work {
    negatives: Vec<u32>,
    /// For each row, where the negatives of each block start; one more than there are blocks.
    starts: Vec<u32>,
    /// For each row the scores of its negatives and, if the loss asks, their companions.
    seen: Vec<f32>,
    score_grads: Vec<f32>,
    positives: Vec<Positive>,
    measures: Vec<f32>,
    quantiles: Vec<f32>,
    /// For each chunk the gradients of the loss's own numbers.
    own_grads: Vec<f32>,
    user_grads: Matrix,
    /// The users' embeddings over the batch size: what a score gradient of one adds to an item.
    user_shares: Matrix,
    rows_by_block: Vec<Vec<u32>>,
}

#[derive(Clone, Copy, Default)]
struct Positive {
    score: f32,
    grad: f32,
    value: f32,
}

impl Stepper {
    /// Prepares to train. The rival is there for the losses that have one, and of the same size as the model.
    pub fn new(loss: Box<dyn Loss>, player: Player, rival: Option<Player>, n_negatives: usize) -> Self {
        let items = &player.model.learned().items;
        let blocks = Blocks::new(items.rows(), items.lanes() * size_of::<Lane>());
        let seen_width = match as_f32(&*loss).companions() {
            Companions::None => n_negatives,
            Companions::Similarities | Companions::RivalScores => 2 * n_negatives,
        };
        Self { loss, player, rival, n_negatives, seen_width, blocks, work: Work::default() }
    }

    /// The model and its optimiser.
    pub fn player(&self) -> &Player {
        &self.player
    }

    /// Makes what the model scores what is to be evaluated.
    pub fn settle(&mut self) {
        self.player.model.settle();
    }

    /// The rival and its optimiser.
    pub fn rival(&self) -> Option<&Player> {
        self.rival.as_ref()
    }

    /// What the loss keeps from step to step.
    pub fn loss_state(&self) -> State {
        self.loss.state()
    }

    /// Takes one step and returns the mean loss of the batch before it.
    ///
    /// If that is not finite the step was broken off before anything moved along it.
    pub fn step(&mut self, batch: Batch<'_>) -> f64 {
        self.make_room(batch.users.len());
        let quantile_rank = self.loss.quantile_rank(batch.epoch);
        let mut first = None;
        for &turn in self.loss.turns(batch.epoch) {
            let value = self.take_turn(batch, turn, first.is_none(), quantile_rank);
            first.get_or_insert(value);
            if !value.is_finite() {
                return value;
            }
        }
        if quantile_rank.is_some() {
            for (&user, &quantile) in batch.users.iter().zip(&self.work.quantiles) {
                self.loss.set_quantile(user, quantile);
            }
        }
        first.unwrap_or(f64::NAN)
    }

    fn take_turn(&mut self, batch: Batch<'_>, turn: Turn, draw: bool, quantile_rank: Option<usize>) -> f64 {
        let step = (batch.epoch as u64) << 40 | (batch.batch as u64) << 2 | turn as u64;
        self.player.model.begin_step(batch.seed, step);
        self.score(batch, draw);
        as_f32(&*self.loss).calibrate(&mut self.work.measures);
        self.differentiate(batch, turn);
        let rows = batch.users.len() as f64;
        let total: f64 = self.work.positives.iter().map(|row| f64::from(row.value)).sum();
        let mut mean = total / rows;
        if turn == Turn::Model {
            mean += self.player.model.own_loss(batch.users, batch.items);
        }
        if !mean.is_finite() {
            return mean;
        }
        if let Some(rank) = quantile_rank {
            self.measure_quantiles(batch, rank);
        }
        if turn != Turn::Own {
            self.add_user_gradients(batch, turn);
            self.add_item_gradients(batch, turn);
            moving_mut(&mut self.player, self.rival.as_mut(), turn).move_along_gradients();
        }
        let own = self.loss.own();
        if own > 0 && turn != Turn::Rival {
            let mut grads = vec![0.0; own];
            for chunk in self.work.own_grads.chunks(own) {
                grads.iter_mut().zip(chunk).for_each(|(sum, g)| *sum += f64::from(*g) / rows);
            }
            self.loss.step_own(turn, &grads, self.player.adam.lr);
        }
        mean
    }

    fn make_room(&mut self, rows: usize) {
        let n = self.n_negatives;
        let dim = self.player.model.learned().dim();
        let work = &mut self.work;
        work.negatives.resize(rows * n, 0);
        work.starts.resize(rows * (self.blocks.count + 1), 0);
        work.seen.resize(rows * self.seen_width, 0.0);
        work.score_grads.resize(rows * n, 0.0);
        work.positives.resize(rows, Positive::default());
        work.measures.resize(rows, 0.0);
        // A loss without numbers of its own still gets one place a chunk, so that the chunks can be paired up.
        work.own_grads.resize(rows.div_ceil(CHUNK) * self.loss.own().max(1), 0.0);
        work.rows_by_block.resize(self.blocks.count, Vec::new());
        for table in [&mut work.user_grads, &mut work.user_shares] {
            if table.rows() != rows {
                *table = Matrix::zeros(rows, dim);
            }
        }
    }

    /// The first pass: draws (once a step) and scores the negatives, and takes the loss's measure of each row.
    fn score(&mut self, batch: Batch<'_>, draw: bool) {
        let Self { player, rival, loss, work, n_negatives, seen_width, blocks, .. } = self;
        let (loss, n, width, blocks) = (as_f32(&**loss), *n_negatives, *seen_width, *blocks);
        let stride = blocks.count + 1;
        let Embeddings { users, items } = player.model.scored();
        let table = items.as_lanes();
        let rival = rival.as_ref().map(|rival| rival.model.scored());
        work.negatives
            .par_chunks_mut(CHUNK * n)
            .zip(work.starts.par_chunks_mut(CHUNK * stride))
            .zip(work.seen.par_chunks_mut(CHUNK * width))
            .zip(work.positives.par_chunks_mut(CHUNK))
            .zip(work.measures.par_chunks_mut(CHUNK))
            .enumerate()
            .for_each(|(chunk, ((((negatives, starts), seen), positives), measures))| {
                let first = chunk * CHUNK;
                let rows = positives.len();
                if draw {
                    let mut drawn = vec![0; n];
                    for row in 0..rows {
                        (batch.negatives)(first + row, &mut drawn);
                        let grouped = &mut negatives[row * n..][..n];
                        blocks.group(&drawn, grouped, &mut starts[row * stride..][..stride]);
                    }
                }
                for block in 0..blocks.count {
                    for row in 0..rows {
                        let here = segment(&starts[row * stride..], block);
                        let user = users.row_lanes(batch.users[first + row] as usize);
                        let ids = &negatives[row * n..][here.clone()];
                        let (scores, companions) = seen[row * width..][..width].split_at_mut(n);
                        let scores = &mut scores[here.clone()];
                        if companions.is_empty() {
                            dots(user, table, ids, scores);
                        } else if let Some(rival) = rival {
                            let opponent = rival.users.row_lanes(batch.users[first + row] as usize);
                            dots(user, table, ids, scores);
                            dots(opponent, rival.items.as_lanes(), ids, &mut companions[here]);
                        } else {
                            let positive = items.row_lanes(batch.items[first + row] as usize);
                            dots_pair(user, positive, table, ids, scores, &mut companions[here]);
                        }
                    }
                }
                for (row, (positive, measure)) in positives.iter_mut().zip(measures).enumerate() {
                    let user = batch.users[first + row];
                    let mut score = [0.0];
                    dots(users.row_lanes(user as usize), table, &[batch.items[first + row]], &mut score);
                    positive.score = score[0];
                    *measure = loss.measure(as_row(user, positive.score, &seen[row * width..][..width], n));
                }
            });
    }

    /// The second pass: gradients of the scores, and what they add up to for each row's user.
    fn differentiate(&mut self, batch: Batch<'_>, turn: Turn) {
        let Self { player, rival, loss, work, n_negatives, seen_width, blocks, .. } = self;
        let own = loss.own();
        let (loss, n, width, blocks) = (as_f32(&**loss), *n_negatives, *seen_width, *blocks);
        let stride = blocks.count + 1;
        let items = &moving(player, rival.as_ref(), turn).model.scored().items;
        let (table, lanes) = (items.as_lanes(), items.lanes());
        let (negatives, starts, measures) = (&work.negatives, &work.starts, &work.measures);
        work.score_grads
            .par_chunks_mut(CHUNK * n)
            .zip(work.seen.par_chunks(CHUNK * width))
            .zip(work.positives.par_chunks_mut(CHUNK))
            .zip(work.user_grads.as_lanes_mut().par_chunks_mut(CHUNK * lanes))
            .zip(work.own_grads.par_chunks_mut(own.max(1)))
            .enumerate()
            .for_each(|(chunk, ((((grads, seen), positives), user_grads), own_grads))| {
                let first = chunk * CHUNK;
                own_grads.fill(0.0);
                for (row, positive) in positives.iter_mut().enumerate() {
                    let at = first + row;
                    let seen = as_row(batch.users[at], positive.score, &seen[row * width..][..width], n);
                    let places =
                        Gradients { negatives: &mut grads[row * n..][..n], own: &mut own_grads[..own] };
                    let outcome = loss.gradient(turn, seen, measures[at], places);
                    (positive.value, positive.grad) = (outcome.value, outcome.positive);
                    let user_grad = &mut user_grads[row * lanes..][..lanes];
                    user_grad.fill(ZERO);
                    add_weighted_rows(table, &[batch.items[at]], &[positive.grad], user_grad);
                }
                if turn == Turn::Own {
                    return;
                }
                for block in 0..blocks.count {
                    for row in 0..positives.len() {
                        let here = segment(&starts[(first + row) * stride..], block);
                        let ids = &negatives[(first + row) * n..][here.clone()];
                        let weights = &grads[row * n..][here];
                        add_weighted_rows(table, ids, weights, &mut user_grads[row * lanes..][..lanes]);
                    }
                }
            });
    }

    /// For each row the score of that rank among the user's training items and the row's negatives.
    fn measure_quantiles(&mut self, batch: Batch<'_>, rank: usize) {
        let Self { player, work, n_negatives, seen_width, .. } = self;
        let (n, width) = (*n_negatives, *seen_width);
        let Embeddings { users, items } = player.model.scored();
        let seen = &work.seen;
        let quantile = |(row, &user): (usize, &u32)| {
            let positives = batch.train.items_of(user);
            let mut scores = vec![0.0; positives.len()];
            dots(users.row_lanes(user as usize), items.as_lanes(), positives, &mut scores);
            scores.extend_from_slice(&seen[row * width..][..n]);
            let place = rank.min(scores.len()) - 1;
            *scores.select_nth_unstable_by(place, |a, b| b.total_cmp(a)).1
        };
        batch.users.par_iter().enumerate().map(quantile).collect_into_vec(&mut work.quantiles);
    }

    fn add_user_gradients(&mut self, batch: Batch<'_>, turn: Turn) {
        let share = share(batch, turn);
        let Self { player, rival, work, .. } = self;
        let grads = &mut moving_mut(player, rival.as_mut(), turn).grads;
        for (row, &user) in batch.users.iter().enumerate() {
            let place = grads.users.row_lanes_mut(user as usize);
            add_weighted_rows(work.user_grads.as_lanes(), &[row as u32], &[share], place);
        }
    }

    fn add_item_gradients(&mut self, batch: Batch<'_>, turn: Turn) {
        let share = share(batch, turn);
        let Self { player, rival, n_negatives, blocks, work, .. } = self;
        let Player { model, grads, .. } = moving_mut(player, rival.as_mut(), turn);
        let (n, blocks, stride) = (*n_negatives, *blocks, blocks.count + 1);
        let users = &model.scored().users;
        for (row, &user) in batch.users.iter().enumerate() {
            let place = work.user_shares.row_lanes_mut(row);
            place.fill(ZERO);
            add_weighted_rows(users.as_lanes(), &[user], &[share], place);
        }
        for rows in &mut work.rows_by_block {
            rows.clear();
        }
        for (row, &item) in batch.items.iter().enumerate() {
            work.rows_by_block[blocks.of(item)].push(row as u32);
        }
        let (shares, positives, by_block) = (&work.user_shares, &work.positives, &work.rows_by_block);
        let (negatives, starts, score_grads) = (&work.negatives, &work.starts, &work.score_grads);
        let block_lanes = grads.items.lanes() << blocks.shift;
        grads.items.as_lanes_mut().par_chunks_mut(block_lanes).enumerate().for_each(|(block, grads)| {
            let first = (block << blocks.shift) as u32;
            for row in 0..batch.users.len() {
                let here = segment(&starts[row * stride..], block);
                let (ids, weights) = (&negatives[row * n..][here.clone()], &score_grads[row * n..][here]);
                add_to_rows(shares.row_lanes(row), ids, weights, first, grads);
            }
            for &row in &by_block[block] {
                let row = row as usize;
                add_to_rows(shares.row_lanes(row), &[batch.items[row]], &[positives[row].grad], first, grads);
            }
        });
    }
}

fn moving<'a>(player: &'a Player, rival: Option<&'a Player>, turn: Turn) -> &'a Player {
    if turn == Turn::Rival { rival.unwrap_or(player) } else { player }
}

fn moving_mut<'a>(player: &'a mut Player, rival: Option<&'a mut Player>, turn: Turn) -> &'a mut Player {
    if turn == Turn::Rival { rival.unwrap_or(player) } else { player }
}

/// What one row counts in the mean over the batch. The rival goes uphill.
fn share(batch: Batch<'_>, turn: Turn) -> f32 {
    let sign = if turn == Turn::Rival { -1.0 } else { 1.0 };
    sign / batch.users.len() as f32
}

fn as_f32(loss: &dyn Loss) -> &dyn RowLoss<f32> {
    loss
}

/// A row as the loss sees it.
fn as_row(user: u32, positive: f32, seen: &[f32], n: usize) -> Row<'_, f32> {
    let (negatives, companions) = seen.split_at(n);
    Row { user, positive, negatives, companions }
}
