//! Every negative scorer against plain loops.

use rivalry_kernels::{Exponent, Matrix};

use super::Batch;
use super::dense::DenseScorer;
use super::gather::GatherScorer;
use super::pooled::PooledScorer;
use super::score_rows::ScoreRows;
use super::scorer::{NegativeScorer, Queries, ScoreGrads};
use crate::data::Interactions;

const N: usize = 37;

fn table(rows: usize, salt: usize) -> Matrix {
    Matrix::from_fn(rows, 20, |r, c| ((r * 37 + c * 11 + salt) as f32 * 0.61).sin())
}

fn drawn(row: usize, k: usize, n_items: usize) -> u32 {
    ((row * 71 + k * k * 13 + k) % n_items) as u32
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

fn close(a: f32, b: f64) -> bool {
    (f64::from(a) - b).abs() < 1e-5 * (10.0 + b.abs())
}

#[test]
fn every_negative_scorer_agrees_with_plain_loops() {
    for (rows, n_items) in [(1, 5), (70, 90), (130, 400)] {
        // Each with how many rows of the batch share what is drawn.
        let ways: [(Box<dyn NegativeScorer>, usize); 3] = [
            (Box::new(DenseScorer::default()), 1),
            (Box::new(GatherScorer::new(n_items, 2, N)), 1),
            (Box::new(PooledScorer::new(48)), 48),
        ];
        for (scorer, sharing) in ways {
            check(scorer, rows, n_items, sharing);
        }
    }
}

#[test]
fn a_pool_is_shared_without_what_a_user_has() {
    let train = Interactions::from_pairs(2, 10, (0..4).map(|item| (1, item)));
    let negatives = |_: usize, out: &mut [u32]| {
        out.iter_mut().enumerate().for_each(|(k, place)| *place = k as u32 % 10);
    };
    let batch = Batch { users: &[0, 1], items: &[9, 9], train: &train, epoch: 0, batch: 0, seed: 0 };
    let mut scorer = PooledScorer::new(2);
    scorer.draw(batch, 14, &negatives);
    let items = Matrix::from_fn(10, 1, |item, _| item as f32);
    let ones = Matrix::from_fn(2, 1, |_, _| 1.0);
    let mut scores = rows_for(&scorer, 2, 14);
    scorer.score(Queries { of: &ones, ids: &[0, 1], table: &items }, &mut scores, None);
    let all: Vec<f32> = (0..14).map(|k| (k % 10) as f32).collect();
    // Of the sixteen drawn, eight are left, and then once more.
    let free = [4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 4.0, 5.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
    assert_eq!((scores.row(0), scores.row(1)), (&all[..], &free[..]));
}

/// Tables of the listed rows alone give the same scores and gradients as tables of all rows; with pools, to the bit.
#[test]
fn renumbered_items_have_the_same_scores_and_gradients() {
    let pooled = || -> Box<dyn NegativeScorer> { Box::new(PooledScorer::new(48)) };
    let [whole, renumbered] = [false, true].map(|renumbered| scored_and_back(pooled(), 400, renumbered));
    assert!(whole == renumbered);
    let gather = || -> Box<dyn NegativeScorer> { Box::new(GatherScorer::new(20_000, 2, N)) };
    let [whole, renumbered] = [false, true].map(|renumbered| scored_and_back(gather(), 20_000, renumbered));
    for (whole, renumbered) in whole.iter().zip(&renumbered) {
        assert!(whole.iter().zip(renumbered).all(|(a, b)| close(*a, f64::from(*b))));
    }
}

/// Summing exponentials while scoring leaves the same gradients as scoring, and then going through the rows again.
#[test]
fn exponentials_summed_while_scoring_give_the_same_gradients() {
    for (rows, n_items) in [(1, 40), (130, 400)] {
        let case = Case::new(rows, n_items);
        let (batch, queries, positives) = (case.batch(), case.queries(), &case.positives);
        let negatives = |row: usize, out: &mut [u32]| case.draw(row, out);
        let exponent = Exponent { sharpness: 0.3, bound: 2.0 };
        let factors: Vec<f32> = (0..rows).map(|row| 0.5 + row as f32 * 0.01).collect();
        let positive_grads = vec![0.25; rows];
        let outcome = |summed: bool| {
            let mut scorer = GatherScorer::new(n_items, 2, N);
            scorer.draw(batch, N, &negatives);
            let mut values = rows_for(&scorer, rows, N);
            let mut totals = vec![0.0; rows];
            if summed {
                scorer.exp_scorer().unwrap().score_exp(queries, exponent, &mut values, &mut totals);
            } else {
                scorer.score(queries, &mut values, None);
                values.values_mut().iter_mut().for_each(|x| *x = (0.3 * (*x - 2.0)).exp());
                totals = (0..rows).map(|row| values.row(row).iter().sum()).collect();
            }
            for (row, grads) in values.values_mut().chunks_exact_mut(N).enumerate() {
                grads.iter_mut().for_each(|grad| *grad *= factors[row]);
            }
            let grads = ScoreGrads {
                negatives: &mut values,
                items: positives,
                positives: &positive_grads,
                factors: if summed { &factors } else { &[] },
            };
            let (mut of_queries, mut of_table) = (Matrix::zeros(rows, 20), Matrix::zeros(n_items, 20));
            scorer.backward(queries, grads, 0.5, &mut of_queries, &mut of_table);
            [totals, of_queries.to_dense(), of_table.to_dense()]
        };
        for (summed, plain) in outcome(true).iter().zip(&outcome(false)) {
            assert!(plain.iter().any(|x| *x != 0.0));
            assert!(summed.iter().zip(plain).all(|(a, b)| close(*a, f64::from(*b))), "{rows}");
        }
    }
}

/// The sorted scores of each row, and the gradients of queries and of the listed items, for scores as their own gradients.
fn scored_and_back(mut scorer: Box<dyn NegativeScorer>, n_items: usize, renumbered: bool) -> [Vec<f32>; 3] {
    let (users, items) = (table(50, 1), table(n_items, 2));
    let ids: Vec<u32> = (0..130).map(|row| row * 7 % 50).collect();
    let given: Vec<u32> = (0..130).map(|row| row * 3 % n_items as u32).collect();
    let train = Interactions::from_pairs(50, n_items, (0..200).map(|k| (k % 50, k * 7 % n_items as u32)));
    let draw = |row: usize, out: &mut [u32]| {
        out.iter_mut().enumerate().for_each(|(k, place)| *place = drawn(row, k, n_items / 3));
    };
    let batch = Batch { users: &ids, items: &given, train: &train, epoch: 0, batch: 0, seed: 0 };
    scorer.draw(batch, N, &draw);
    let listed = scorer.items().expect("few enough to be listed").to_vec();
    let (table, mut positives) =
        (if renumbered { items.gather(&listed) } else { items.clone() }, given.clone());
    if renumbered {
        scorer.renumber(&mut positives);
    }
    let queries = Queries { of: &users, ids: &ids, table: &table };
    let mut scores = rows_for(&*scorer, 130, N);
    scorer.score(queries, &mut scores, None);
    assert!(lists_what_it_scores(&*scorer, queries, &items, &scores), "{n_items} {renumbered}");
    assert!(adds_the_prior_of_what_it_lists(&*scorer, 130, n_items), "{n_items} {renumbered}");
    assert!(scores_single_places_alike(&*scorer, queries, &scores), "{n_items} {renumbered}");
    let mut sorted: Vec<Vec<f32>> = (0..130).map(|row| scores.row(row).to_vec()).collect();
    sorted.iter_mut().for_each(|row| row.sort_unstable_by(f32::total_cmp));
    let positive_grads = vec![0.25; 130];
    let grads =
        ScoreGrads { negatives: &mut scores, items: &positives, positives: &positive_grads, factors: &[] };
    let (mut of_queries, mut of_table) = (Matrix::zeros(130, 20), Matrix::zeros(table.rows(), 20));
    scorer.backward(queries, grads, 0.5, &mut of_queries, &mut of_table);
    let of_table = if renumbered { of_table } else { of_table.gather(&listed) };
    [sorted.concat(), of_queries.to_dense(), of_table.to_dense()]
}

/// Whether each row lists its negatives in the order of their scores, by their numbers in the whole table.
fn lists_what_it_scores(
    scorer: &dyn NegativeScorer,
    queries: Queries<'_>,
    items: &Matrix,
    scores: &ScoreRows,
) -> bool {
    let mut again = scores.clone();
    scorer.for_each_row(&mut again, &|row, negatives, values| {
        let query = queries.of.row(queries.ids[row] as usize);
        let scores = negatives.iter().map(|&item| dot(query, items.row(item as usize)) as f32);
        values.iter_mut().zip(scores).for_each(|(value, score)| *value = score);
    });
    (0..queries.len())
        .all(|row| scores.row(row).iter().zip(again.row(row)).all(|(a, b)| close(*a, f64::from(*b))))
}

/// Whether the scores of each row get the prior of its negatives, in their order.
fn adds_the_prior_of_what_it_lists(scorer: &dyn NegativeScorer, rows: usize, n_items: usize) -> bool {
    let prior: Vec<f32> = (0..n_items).map(|item| item as f32).collect();
    let [mut added, mut listed] = [rows_for(scorer, rows, N), rows_for(scorer, rows, N)];
    scorer.add_prior(&prior, &mut added);
    scorer.for_each_row(&mut listed, &|_, items, values| {
        values.iter_mut().zip(items).for_each(|(value, &item)| *value = item as f32);
    });
    (0..rows).all(|row| added.row(row) == listed.row(row))
}

/// Whether some negatives of each row have the same scores, to the bit, if they are scored alone.
fn scores_single_places_alike(scorer: &dyn NegativeScorer, queries: Queries<'_>, scores: &ScoreRows) -> bool {
    (0..queries.len()).all(|row| {
        let places: Vec<u32> = (0..N as u32).step_by(5).rev().collect();
        let mut alone = vec![0.0; places.len()];
        scorer.score_places(row, queries, &mut places.clone(), &mut alone);
        let among_all = places.iter().map(|&place| scores.row(row)[place as usize]);
        among_all.eq(alone)
    })
}

fn rows_for(scorer: &dyn NegativeScorer, rows: usize, n: usize) -> ScoreRows {
    let mut values = ScoreRows::default();
    values.resize(rows, n, scorer.stride(n));
    values
}

/// Tables, and a batch of their rows.
struct Case {
    users: Matrix,
    items: Matrix,
    ids: Vec<u32>,
    positives: Vec<u32>,
    train: Interactions,
}

impl Case {
    fn new(rows: usize, n_items: usize) -> Self {
        Self {
            users: table(50, 1),
            items: table(n_items, 2),
            ids: (0..rows as u32).map(|row| row * 7 % 50).collect(),
            positives: (0..rows).map(|row| (row * 3 % n_items) as u32).collect(),
            train: Interactions::empty(50, n_items),
        }
    }

    fn batch(&self) -> Batch<'_> {
        let Self { ids, positives, train, .. } = self;
        Batch { users: ids, items: positives, train, epoch: 0, batch: 0, seed: 0 }
    }

    fn queries(&self) -> Queries<'_> {
        Queries { of: &self.users, ids: &self.ids, table: &self.items }
    }

    fn draw(&self, row: usize, out: &mut [u32]) {
        let n_items = self.items.rows();
        out.iter_mut().enumerate().for_each(|(k, place)| *place = drawn(row, k, n_items));
    }
}

fn check(mut scorer: Box<dyn NegativeScorer>, rows: usize, n_items: usize, sharing: usize) {
    let case = Case::new(rows, n_items);
    let Case { users, items, ids, positives, .. } = &case;
    scorer.draw(case.batch(), N, &|row, out| case.draw(row, out));
    let queries = case.queries();
    let similar = Queries { of: items, ids: positives, table: items };
    let (mut scores, mut features) = (rows_for(&*scorer, rows, N), rows_for(&*scorer, rows, N));
    scorer.score(queries, &mut scores, Some((similar, &mut features)));
    let mut alone = rows_for(&*scorer, rows, N);
    scorer.score(queries, &mut alone, None);
    for row in 0..rows {
        assert_eq!(scores.row(row), alone.row(row), "the same scores with and without features");
    }

    assert!(lists_what_it_scores(&*scorer, queries, items, &scores), "{rows} {n_items}");
    assert!(scores_single_places_alike(&*scorer, queries, &scores), "{rows} {n_items}");
    assert!(scores_single_places_alike(&*scorer, similar, &features), "{rows} {n_items}");

    // The order within a row is the scorer's own, so rows are compared as sums of functions of the scores.
    let grad = |score: f32, feature: f32| 0.3 * score - 0.2 * feature;
    let mut grads = rows_for(&*scorer, rows, N);
    let both = scores.values().iter().zip(features.values());
    grads.values_mut().iter_mut().zip(both).for_each(|(g, (s, c))| *g = grad(*s, *c));
    let positive_grads: Vec<f32> = (0..rows).map(|row| 0.1 + row as f32 * 0.01).collect();
    let (mut query_grads, mut table_grads) = (Matrix::zeros(rows, 20), table(n_items, 3));
    let gradients =
        ScoreGrads { negatives: &mut grads, items: positives, positives: &positive_grads, factors: &[] };
    scorer.backward(queries, gradients, 0.5, &mut query_grads, &mut table_grads);

    let mut table_expected: Vec<f64> =
        (0..n_items).flat_map(|i| table(n_items, 3).row(i).to_vec()).map(f64::from).collect();
    for row in 0..rows {
        let (user, positive) = (users.row(ids[row] as usize), items.row(positives[row] as usize));
        let mut expected = vec![0.0; 20];
        let mut sum = 0.0;
        let mut add = |item: usize, weight: f64| {
            for c in 0..20 {
                expected[c] += weight * f64::from(items.row(item)[c]);
                table_expected[item * 20 + c] += 0.5 * weight * f64::from(user[c]);
            }
        };
        for k in 0..N {
            let item = drawn(row - row % sharing, k, n_items) as usize;
            let (score, feature) = (dot(user, items.row(item)), dot(positive, items.row(item)));
            sum += score + 0.1 * feature * score;
            add(item, 0.3 * score - 0.2 * feature);
        }
        add(positives[row] as usize, f64::from(positive_grads[row]));
        let seen: f32 = scores.row(row).iter().zip(features.row(row)).map(|(s, c)| s + 0.1 * c * s).sum();
        assert!(close(seen, sum), "{rows} {n_items}: {seen} {sum}");
        assert!(query_grads.row(row).iter().zip(&expected).all(|(a, b)| close(*a, *b)), "{rows} {n_items}");
    }
    let found = (0..n_items).flat_map(|i| table_grads.row(i).to_vec());
    assert!(found.zip(&table_expected).all(|(a, b)| close(a, *b)), "{rows} {n_items}");
}
