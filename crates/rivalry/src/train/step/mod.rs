//! One training step: negatives, scores, loss, gradients, Adam.
//!
//! How negatives are scored and their gradients brought back is chosen by cost ([`picked`], [`whole`]), or follows from
//! negatives that are shared ([`pooled`]).

mod blocks;
mod picked;
mod player;
mod pooled;
mod scoring;
#[cfg(test)]
mod tests;
mod whole;

use rayon::prelude::*;
use rivalry_kernels::{Matrix, add_weighted_rows, dots};

use self::picked::Picked;
pub use self::player::Player;
use self::pooled::Pooled;
use self::scoring::{Queries, ScoreGrads, Scoring};
use self::whole::Whole;
use crate::backbone::{self, Embeddings};
use crate::data::Interactions;
use crate::loss::{Companions, Gradients, Loss, Row, RowLoss, State, Turn};

/// Rows of the batch a task works on at a time.
const ROWS: usize = 32;

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

/// A loss, the model it trains, the rival it may have, and the memory a step works in.
pub struct Stepper {
    loss: Box<dyn Loss>,
    player: Player,
    rival: Option<Player>,
    n_negatives: usize,
    scoring: Box<dyn Scoring>,
    work: Work,
}

/// What is known of each row of a batch.
#[derive(Default)]
struct Work {
    positives: Vec<Positive>,
    scores: Vec<f32>,
    /// What the loss asked for along with each score, or nothing.
    companions: Vec<f32>,
    measures: Vec<f32>,
    quantiles: Vec<f32>,
    score_grads: Vec<f32>,
    positive_grads: Vec<f32>,
    /// For each chunk of rows the gradients of the loss's own numbers.
    own_grads: Vec<f32>,
    user_grads: Matrix,
}

#[derive(Clone, Copy, Default)]
struct Positive {
    score: f32,
    value: f32,
}

impl Stepper {
    /// Prepares to train. The rival is there for the losses that have one, and of the same size as the model.
    pub fn new(loss: Box<dyn Loss>, player: Player, rival: Option<Player>, n_negatives: usize) -> Self {
        let items = &player.model.learned().items;
        let scoring: Box<dyn Scoring> = if whole::pays(items.rows(), n_negatives) {
            Box::new(Whole::default())
        } else {
            Box::new(Picked::new(items.rows(), items.lanes(), n_negatives))
        };
        Self { loss, player, rival, n_negatives, scoring, work: Work::default() }
    }

    /// The same with negatives that this many rows of a batch share.
    #[must_use]
    pub fn sharing(mut self, rows: usize) -> Self {
        self.scoring = Box::new(Pooled::new(rows));
        self
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
        self.scoring.draw(batch, self.n_negatives);
        let quantile_rank = self.loss.quantile_rank(batch.epoch);
        let mut first = None;
        for &turn in self.loss.turns(batch.epoch) {
            let value = self.take_turn(batch, turn, quantile_rank);
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

    fn take_turn(&mut self, batch: Batch<'_>, turn: Turn, quantile_rank: Option<usize>) -> f64 {
        let number = (batch.epoch as u64) << 40 | (batch.batch as u64) << 2 | turn as u64;
        self.player.model.begin_step(backbone::Step { users: batch.users, seed: batch.seed, number });
        self.score(batch);
        self.measure(batch);
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
            self.move_player(batch, turn);
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
        let work = &mut self.work;
        work.positives.resize(rows, Positive::default());
        work.scores.resize(rows * n, 0.0);
        if as_f32(&*self.loss).companions() != Companions::None {
            work.companions.resize(rows * n, 0.0);
        }
        work.measures.resize(rows, 0.0);
        work.score_grads.resize(rows * n, 0.0);
        work.positive_grads.resize(rows, 0.0);
        // A loss without numbers of its own still gets one place a chunk, so that the chunks can be paired up.
        work.own_grads.resize(rows.div_ceil(ROWS) * self.loss.own().max(1), 0.0);
        work.user_grads.resize(rows, self.player.model.learned().dim());
    }

    fn score(&mut self, batch: Batch<'_>) {
        let Work { scores, companions, .. } = &mut self.work;
        let queries = user_queries(self.player.model.scored(), batch);
        let second = match as_f32(&*self.loss).companions() {
            Companions::None => None,
            Companions::Similarities => Some(Queries { of: queries.table, ids: batch.items, ..queries }),
            Companions::RivalScores => {
                self.rival.as_ref().map(|rival| user_queries(rival.model.scored(), batch))
            }
        };
        self.scoring.score(queries, scores, second.map(|queries| (queries, &mut companions[..])));
    }

    /// The first pass of the loss: each row's measure, and what the batch makes of them.
    fn measure(&mut self, batch: Batch<'_>) {
        let Self { player, loss, work, n_negatives: n, .. } = self;
        let loss = as_f32(&**loss);
        let queries = user_queries(player.model.scored(), batch);
        let (scores, companions) = (&work.scores, &work.companions);
        let rows = work.positives.par_iter_mut().zip(&mut work.measures).enumerate();
        rows.with_min_len(ROWS).for_each(|(row, (positive, measure))| {
            let mut score = [0.0];
            dots(queries.row(row), queries.table.as_lanes(), &[batch.items[row]], &mut score);
            positive.score = score[0];
            *measure = loss.measure(as_row(batch, row, positive.score, scores, companions, *n));
        });
        loss.calibrate(&mut work.measures);
    }

    /// The second pass: values, and gradients of the scores.
    fn differentiate(&mut self, batch: Batch<'_>, turn: Turn) {
        let Self { loss, work, n_negatives: n, .. } = self;
        let (own, n) = (loss.own(), *n);
        let loss = as_f32(&**loss);
        let (scores, companions, measures) = (&work.scores, &work.companions, &work.measures);
        work.score_grads
            .par_chunks_mut(ROWS * n)
            .zip(work.positives.par_chunks_mut(ROWS))
            .zip(work.positive_grads.par_chunks_mut(ROWS))
            .zip(work.own_grads.par_chunks_mut(own.max(1)))
            .enumerate()
            .for_each(|(chunk, (((grads, positives), positive_grads), own_grads))| {
                own_grads.fill(0.0);
                let rows = grads.chunks_exact_mut(n).zip(positives).zip(positive_grads);
                for (r, ((grads, positive), positive_grad)) in rows.enumerate() {
                    let row = chunk * ROWS + r;
                    let seen = as_row(batch, row, positive.score, scores, companions, n);
                    let places = Gradients { negatives: grads, own: &mut own_grads[..own] };
                    let outcome = loss.gradient(turn, seen, measures[row], places);
                    (positive.value, *positive_grad) = (outcome.value, outcome.positive);
                }
            });
    }

    /// For each row the score of that rank among the user's training items and the row's negatives.
    fn measure_quantiles(&mut self, batch: Batch<'_>, rank: usize) {
        let Self { player, work, n_negatives: n, .. } = self;
        let Embeddings { users, items } = player.model.scored();
        let seen = &work.scores;
        let quantile = |(row, &user): (usize, &u32)| {
            let positives = batch.train.items_of(user);
            let mut scores = vec![0.0; positives.len()];
            dots(users.row_lanes(user as usize), items.as_lanes(), positives, &mut scores);
            scores.extend_from_slice(&seen[row * *n..][..*n]);
            let place = rank.min(scores.len()) - 1;
            *scores.select_nth_unstable_by(place, |a, b| b.total_cmp(a)).1
        };
        batch.users.par_iter().enumerate().map(quantile).collect_into_vec(&mut work.quantiles);
    }

    /// Brings the gradients of the scores back to the tables of whoever moves, and moves them.
    fn move_player(&mut self, batch: Batch<'_>, turn: Turn) {
        let Self { player, rival, scoring, work, .. } = self;
        // The rival goes uphill.
        let (moving, sign) = match (turn, rival) {
            (Turn::Rival, Some(rival)) => (rival, -1.0),
            _ => (player, 1.0),
        };
        // What one row counts in the mean over the batch.
        let share = sign / batch.users.len() as f32;
        let queries = user_queries(moving.model.scored(), batch);
        let grads =
            ScoreGrads { negatives: &work.score_grads, items: batch.items, positives: &work.positive_grads };
        scoring.spread(queries, grads, share, &mut work.user_grads, &mut moving.grads.items);
        for (row, &user) in batch.users.iter().enumerate() {
            let place = moving.grads.users.row_lanes_mut(user as usize);
            add_weighted_rows(work.user_grads.as_lanes(), &[row as u32], &[share], place);
        }
        moving.move_along_gradients(batch.users);
    }
}

fn as_f32(loss: &dyn Loss) -> &dyn RowLoss<f32> {
    loss
}

fn user_queries<'a>(tables: &'a Embeddings, batch: Batch<'a>) -> Queries<'a> {
    Queries { of: &tables.users, ids: batch.users, table: &tables.items }
}

/// A row as the loss sees it.
fn as_row<'a>(
    batch: Batch<'_>,
    row: usize,
    positive: f32,
    scores: &'a [f32],
    companions: &'a [f32],
    n: usize,
) -> Row<'a, f32> {
    let companions = if companions.is_empty() { companions } else { &companions[row * n..][..n] };
    Row { user: batch.users[row], positive, negatives: &scores[row * n..][..n], companions }
}
