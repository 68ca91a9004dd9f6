//! NegativeScorer by picking the rows that were drawn, for catalogues much larger than a row's sample.
//!
//! The negatives of a row are put in the order of the blocks of the table they fall in. All rows of the batch then
//! visit one block after another, whose rows stay in the second-level cache meanwhile. A block of gradients belongs
//! to one task, which alone writes there and goes through the batch in order: no locks, and the same bits whatever
//! the number of threads.

use rayon::prelude::*;
use rivalry_kernels::{BlockedGather, Exponent, Lane, Matrix, ZERO, add_to_rows, add_weighted_rows, dots};

use super::Batch;
use super::blocks::Blocks;
use super::item_list::ItemList;
use super::score_rows::ScoreRows;
use super::scorer::{Draw, ExpScorer, Fill, NegativeScorer, Queries, ScoreGrads, for_each_row_of};

/// Rows of the batch a task works on at a time, where rows are independent.
const ROWS: usize = 32;

/// Runs of blocks that collect the queries' gradients on their own before these are added up.
const RUNS: usize = 16;

/// How many times larger than a step's draws a catalogue must be for its items to be listed: otherwise most of the
/// catalogue is in a step.
const LISTED: usize = 4;

pub(super) struct GatherScorer {
    grouped: Grouped,
    /// For each run of blocks what they add to the queries' gradients.
    runs: Vec<Matrix>,
    /// For each run of blocks the sum of each row's exponentials.
    totals: Vec<Vec<f32>>,
    /// The queries of all rows one after another, where they are close together.
    queries: [Matrix; 2],
    positives_by_block: Vec<Vec<usize>>,
    /// The items of the step, where they are few.
    items: ItemList,
    is_listed: bool,
    /// Whether the negatives are places in that list.
    is_renumbered: bool,
}

/// The negatives of each row, in the order of the blocks.
struct Grouped {
    blocks: Blocks,
    n_negatives: usize,
    negatives: Vec<u32>,
    /// For each row, where the negatives of each block start; one more than there are blocks.
    starts: Vec<u32>,
}

impl Grouped {
    fn picks(&self) -> BlockedGather<'_> {
        BlockedGather::new(&self.negatives, self.n_negatives, &self.starts, self.blocks.count)
    }
}

impl GatherScorer {
    pub fn new(n_items: usize, lanes: usize, n_negatives: usize) -> Self {
        let blocks = Blocks::new(n_items, lanes * size_of::<Lane>(), n_negatives);
        Self {
            grouped: Grouped { blocks, n_negatives, negatives: Vec::new(), starts: Vec::new() },
            runs: Vec::new(),
            totals: Vec::new(),
            queries: [Matrix::default(), Matrix::default()],
            positives_by_block: Vec::new(),
            items: ItemList::default(),
            is_listed: false,
            is_renumbered: false,
        }
    }
}

impl NegativeScorer for GatherScorer {
    fn draw(&mut self, batch: Batch<'_>, n_negatives: usize, draw: Draw<'_>) {
        let Grouped { blocks, negatives, starts, .. } = &mut self.grouped;
        let (n, blocks) = (n_negatives, *blocks);
        let (rows, stride) = (batch.users.len(), blocks.count + 1);
        negatives.resize(rows * n, 0);
        starts.resize(rows * stride, 0);
        let chunks = negatives.par_chunks_mut(ROWS * n).zip(starts.par_chunks_mut(ROWS * stride));
        chunks.enumerate().for_each_init(
            || vec![0; n],
            |drawn, (chunk, (grouped, starts))| {
                let rows = grouped.chunks_exact_mut(n).zip(starts.chunks_exact_mut(stride));
                for (row, (grouped, starts)) in rows.enumerate() {
                    draw(chunk * ROWS + row, drawn);
                    blocks.group(drawn, grouped, starts);
                }
            },
        );
        let n_items = batch.train.n_items();
        self.is_listed = rows * (n + 1) * LISTED <= n_items;
        self.is_renumbered = false;
        if self.is_listed {
            self.items.set(n_items, self.grouped.negatives.iter().chain(batch.items).copied());
        }
    }

    fn items(&self) -> Option<&[u32]> {
        self.is_listed.then(|| self.items.items())
    }

    fn renumber(&mut self, positives: &mut [u32]) {
        self.is_renumbered = true;
        let renumber = self.items.numbering();
        let Grouped { blocks, n_negatives: n, negatives, starts } = &mut self.grouped;
        let rows = negatives.par_chunks_mut(*n).zip(starts.par_chunks_mut(blocks.count + 1));
        rows.with_min_len(ROWS).for_each_init(Vec::new, |drawn: &mut Vec<u32>, (grouped, starts)| {
            drawn.clear();
            drawn.extend_from_slice(grouped);
            drawn.iter_mut().for_each(renumber);
            blocks.group(drawn, grouped, starts);
        });
        positives.iter_mut().for_each(renumber);
    }

    fn for_each_row(&self, values: &mut ScoreRows, fill: Fill<'_>) {
        let negatives = &self.grouped.negatives;
        if self.is_renumbered {
            let items = self.items.items();
            let negatives: Vec<u32> = negatives.iter().map(|&place| items[place as usize]).collect();
            return for_each_row_of(&negatives, values, fill);
        }
        for_each_row_of(negatives, values, fill);
    }

    fn score(
        &mut self,
        first: Queries<'_>,
        out: &mut ScoreRows,
        second: Option<(Queries<'_>, &mut ScoreRows)>,
    ) {
        let out = out.values_mut();
        let [one, two] = &mut self.queries;
        first.copy_scaled(1.0, one);
        let picks = self.grouped.picks();
        let (table, one) = (first.table.as_lanes(), one.as_lanes());
        match second {
            None => {
                let parts: Vec<_> = picks.split(out).collect();
                parts.into_par_iter().for_each(|mut part| part.dots(one, table));
            }
            Some((second, other)) => {
                second.copy_scaled(1.0, two);
                let two = two.as_lanes();
                let parts: Vec<_> = picks.split(out).zip(picks.split(other.values_mut())).collect();
                parts.into_par_iter().for_each(|(mut part, mut other)| {
                    if std::ptr::eq(first.table, second.table) {
                        part.dots_pair(&mut other, [one, two], table);
                    } else {
                        part.dots(one, table);
                        other.dots(two, second.table.as_lanes());
                    }
                });
            }
        }
    }

    fn exp_scorer(&mut self) -> Option<&mut dyn ExpScorer> {
        Some(self)
    }

    fn score_places(&self, row: usize, queries: Queries<'_>, places: &mut [u32], out: &mut [f32]) {
        let Grouped { n_negatives: n, negatives, .. } = &self.grouped;
        places.iter_mut().for_each(|place| *place = negatives[row * n + *place as usize]);
        dots(queries.row(row), queries.table.as_lanes(), places, out);
    }

    fn backward(
        &mut self,
        queries: Queries<'_>,
        grads: ScoreGrads<'_>,
        share: f32,
        query_grads: &mut Matrix,
        table_grads: &mut Matrix,
    ) {
        queries.copy_scaled(share, &mut self.queries[0]);
        if grads.factors.is_empty() {
            self.collect_query_grads(queries, &grads);
        }
        self.add_up_runs(queries, &grads, query_grads);
        self.collect_table_grads(&grads, table_grads);
    }
}

impl ExpScorer for GatherScorer {
    fn score_exp(
        &mut self,
        queries: Queries<'_>,
        exponent: Exponent,
        out: &mut ScoreRows,
        totals: &mut [f32],
    ) {
        queries.copy_scaled(1.0, &mut self.queries[0]);
        let run_length = self.clear_runs(queries);
        let Self { grouped, runs, totals: of_runs, queries: [copied, _], .. } = self;
        of_runs.resize_with(runs.len(), Vec::new);
        let (copied, table) = (copied.as_lanes(), queries.table.as_lanes());
        let mut blocks: Vec<_> = grouped.picks().split(out.values_mut()).collect();
        let runs = blocks.par_chunks_mut(run_length).zip(runs).zip(&mut *of_runs);
        runs.for_each(|((blocks, sums), totals)| {
            totals.clear();
            totals.resize(queries.len(), 0.0);
            let sums = sums.as_lanes_mut();
            blocks.iter_mut().for_each(|block| block.exp_dots(copied, table, exponent, totals, sums));
        });
        for (row, total) in totals.iter_mut().enumerate() {
            *total = of_runs.iter().map(|totals| totals[row]).sum();
        }
    }
}

impl GatherScorer {
    /// Sets the sums of all runs to zero, and returns how many blocks a run has.
    fn clear_runs(&mut self, queries: Queries<'_>) -> usize {
        let count = self.grouped.blocks.count;
        let run_length = count.div_ceil(RUNS);
        self.runs.resize_with(count.div_ceil(run_length), Matrix::default);
        self.runs.par_iter_mut().for_each(|sums| {
            sums.resize(queries.len(), queries.table.cols());
            sums.as_lanes_mut().fill(ZERO);
        });
        run_length
    }

    fn collect_query_grads(&mut self, queries: Queries<'_>, grads: &ScoreGrads<'_>) {
        let run_length = self.clear_runs(queries);
        let (picks, count) = (self.grouped.picks(), self.grouped.blocks.count);
        let (table, negatives) = (queries.table.as_lanes(), grads.negatives.values());
        self.runs.par_iter_mut().enumerate().for_each(|(run, sums)| {
            for block in run * run_length..((run + 1) * run_length).min(count) {
                picks.add_weighted_rows(block, negatives, table, sums.as_lanes_mut());
            }
        });
    }

    fn add_up_runs(&self, queries: Queries<'_>, grads: &ScoreGrads<'_>, query_grads: &mut Matrix) {
        let lanes = query_grads.lanes();
        query_grads.as_lanes_mut().par_chunks_mut(lanes).enumerate().with_min_len(ROWS).for_each(
            |(row, sum)| {
                sum.fill(ZERO);
                let item = [grads.items[row]];
                add_weighted_rows(queries.table.as_lanes(), &item, &[grads.positives[row]], sum);
                let factor = grads.factors.get(row).copied().unwrap_or(1.0);
                for run in &self.runs {
                    add_weighted_rows(run.as_lanes(), &[row as u32], &[factor], sum);
                }
            },
        );
    }

    fn collect_table_grads(&mut self, grads: &ScoreGrads<'_>, table_grads: &mut Matrix) {
        let Self { grouped, queries: [shares, _], positives_by_block, .. } = self;
        let (picks, blocks) = (grouped.picks(), grouped.blocks);
        positives_by_block.resize(blocks.count, Vec::new());
        positives_by_block.iter_mut().for_each(Vec::clear);
        for (row, &item) in grads.items.iter().enumerate() {
            positives_by_block[blocks.of(item)].push(row);
        }
        let (block_lanes, negatives) = (table_grads.lanes() << blocks.shift, grads.negatives.values());
        let parts = table_grads.as_lanes_mut().par_chunks_mut(block_lanes).zip(&*positives_by_block);
        parts.enumerate().for_each(|(block, (sums, positives))| {
            let first = (block << blocks.shift) as u32;
            picks.add_to_rows(block, negatives, shares.as_lanes(), first, sums);
            for &row in positives {
                let (item, weight) = ([grads.items[row]], [grads.positives[row]]);
                add_to_rows(shares.row_lanes(row), &item, &weight, first, sums);
            }
        });
    }
}
