//! The backbones in the plainest possible f64.

use super::super::xsimgcl::{NoiseKey, uniform_row};
use super::*;

/// One row a node, users first.
#[derive(Clone)]
pub struct Nodes(pub Vec<Vec<f64>>);

impl Nodes {
    pub fn of(tables: &Embeddings) -> Self {
        let rows = tables.tables().into_iter().flat_map(|t| (0..t.rows()).map(move |r| t.row(r)));
        Self(rows.map(|row| row.iter().map(|&x| x.into()).collect()).collect())
    }

    fn map(&self, f: impl Fn(usize, f64) -> f64) -> Self {
        let row = |(r, row): (usize, &Vec<f64>)| row.iter().map(|&x| f(r, x)).collect();
        Self(self.0.iter().enumerate().map(row).collect())
    }

    fn plus(&self, other: &Self) -> Self {
        let row = |(a, b): (&Vec<f64>, &Vec<f64>)| a.iter().zip(b).map(|(a, b)| a + b).collect();
        Self(self.0.iter().zip(&other.0).map(row).collect())
    }

    fn unit(&self) -> Self {
        let lengths: Vec<f64> = self.0.iter().map(|row| length(row)).collect();
        self.map(|r, x| if lengths[r] == 0.0 { 0.0 } else { x / lengths[r] })
    }

    /// The rows of nodes without neighbours from `other`.
    fn keep_isolated(mut self, train: &Interactions, other: &Self) -> Self {
        for (r, degree) in degrees(train).into_iter().enumerate() {
            if degree == 0.0 {
                self.0[r] = other.0[r].clone();
            }
        }
        self
    }
}

pub fn random(seed: u64, n_users: usize, n_items: usize, dim: usize) -> Embeddings {
    let mut rng = crate::rng::seeded(seed);
    let mut table = |rows| Matrix::from_fn(rows, dim, |_, _| crate::rng::normal(&mut rng)[0]);
    Embeddings { users: table(n_users), items: table(n_items) }
}

/// The largest difference between two elements.
pub fn difference(found: &Embeddings, expected: &Nodes) -> f64 {
    let pairs = Nodes::of(found).0.into_iter().flatten().zip(expected.0.iter().flatten());
    // By the total order, in which what is not a number is the largest of all.
    pairs.map(|(a, b)| (a - b).abs()).max_by(f64::total_cmp).unwrap()
}

fn length(row: &[f64]) -> f64 {
    row.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn degrees(train: &Interactions) -> Vec<f64> {
    let mut degrees = vec![0.0; train.n_users() + train.n_items()];
    for (u, i) in train.pairs() {
        degrees[u as usize] += 1.0;
        degrees[train.n_users() + i as usize] += 1.0;
    }
    degrees
}

/// `D^-received A D^-sent x`.
fn message(train: &Interactions, x: &Nodes, received: f64, sent: f64) -> Nodes {
    let degrees = degrees(train);
    let mut out = x.map(|_, _| 0.0);
    for (u, i) in train.pairs() {
        let (u, i) = (u as usize, train.n_users() + i as usize);
        for (to, from) in [(u, i), (i, u)] {
            let weight = degrees[to].powf(-received) * degrees[from].powf(-sent);
            for c in 0..x.0[0].len() {
                out.0[to][c] += weight * x.0[from][c];
            }
        }
    }
    out
}

/// `Âx`.
pub fn step(train: &Interactions, x: &Nodes) -> Nodes {
    message(train, x, 0.5, 0.5)
}

pub fn lightgcn(train: &Interactions, x: &Nodes, layers: usize) -> Nodes {
    let (mut layer, mut sum) = (x.clone(), x.clone());
    for _ in 0..layers {
        layer = step(train, &layer);
        sum = sum.plus(&layer);
    }
    sum.map(|_, s| s / (layers + 1) as f64).keep_isolated(train, x)
}

pub fn lightgcn_pp(train: &Interactions, x: &Nodes, layers: usize, [alpha, beta, gamma]: [f64; 3]) -> Nodes {
    let (mut layer, mut sum) = (x.clone(), x.map(|_, _| 0.0));
    for _ in 0..layers {
        layer = message(train, &layer.unit(), alpha, beta);
        sum = sum.plus(&layer);
    }
    let sum = sum.map(|_, s| (1.0 - gamma) * s / layers as f64);
    x.map(|_, x| gamma * x).plus(&sum).keep_isolated(train, x)
}

/// What each layer adds, given the random numbers of a step.
pub fn noise(train: &Interactions, x: &Nodes, layers: usize, epsilon: f64, of: Step<'_>) -> Vec<Nodes> {
    let Step { seed, number, .. } = of;
    let mut z = x.clone();
    let mut noise = Vec::new();
    for layer in 1..=layers as u64 {
        z = step(train, &z);
        let mut added = z.clone();
        for (r, row) in added.0.iter_mut().enumerate() {
            let (side, at) = if r < train.n_users() { (0, r) } else { (1, r - train.n_users()) };
            let mut drawn = vec![0.0f32; row.len()];
            let key = NoiseKey { step: number, layer, side, row: at as u64 };
            uniform_row(seed, key, &mut drawn);
            let drawn: Vec<f64> = drawn.into_iter().map(f64::from).collect();
            for (x, n) in row.iter_mut().zip(&drawn) {
                *x = if *x == 0.0 { 0.0 } else { epsilon * x.signum() * n / length(&drawn) };
            }
        }
        z = z.plus(&added);
        noise.push(added);
    }
    noise
}

/// The final and the first layer, with that noise.
pub fn xsimgcl(train: &Interactions, x: &Nodes, noise: &[Nodes]) -> (Nodes, Nodes) {
    let (mut z, mut sum, mut first) = (x.clone(), x.map(|_, _| 0.0), None);
    for noise in noise {
        z = step(train, &z).plus(noise);
        sum = sum.plus(&z);
        first.get_or_insert(z.clone());
    }
    (sum.map(|_, s| s / noise.len() as f64).keep_isolated(train, x), first.unwrap())
}

pub fn info_nce([a, b]: [&Nodes; 2], users: &[u32], items: &[u32], weight: f64, tau: f64) -> f64 {
    let (a, b) = (a.unit(), b.unit());
    let side = |ids: &[u32], first: usize| {
        let ids: std::collections::BTreeSet<usize> = ids.iter().map(|&id| first + id as usize).collect();
        let score = |i: usize, j: usize| a.0[i].iter().zip(&b.0[j]).map(|(a, b)| a * b).sum::<f64>() / tau;
        let row = |i: usize| ids.iter().map(|&j| score(i, j).exp()).sum::<f64>().ln() - score(i, i);
        ids.iter().map(|&i| row(i)).sum::<f64>() / ids.len() as f64
    };
    weight * (side(users, 0) + side(items, USERS))
}
