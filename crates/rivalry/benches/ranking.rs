//! How long a full ranking takes, for all users and for one: random embeddings of Gowalla's size, 27 training items masked
//! for each user. Beside it, the time of reading as much memory as the item table takes, on one thread: the bound for one user.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rivalry::Matrix;
use rivalry::backbone::Embeddings;
use rivalry::config::Config;
use rivalry::data::{Dataset, Interactions, Parts};
use rivalry::model::Model;
use rivalry::ranker::{Filter, Ranker};
use rivalry::tensors::Tensors;

const USERS: usize = 29_858;
const ITEMS: usize = 40_988;
const DIM: usize = 64;

fn ranker() -> Ranker {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut number = move || random.next_u32() as f32 / 2f32.powi(31) - 1.0;
    let mut table = |rows| Matrix::from_fn(rows, DIM, |_, _| number());
    let embeddings = Embeddings { users: table(USERS), items: table(ITEMS) };
    let seen =
        (0..USERS).flat_map(|u| (0..27).map(move |i| (u as u32, ((u * 7919 + i * 1511) % ITEMS) as u32)));
    let none = || Interactions::empty(USERS, ITEMS);
    let parts = Parts { train: Interactions::from_pairs(USERS, ITEMS, seen), valid: none(), test: none() };
    let ids = |n: usize| (0..n).map(|id| id.to_string()).collect();
    let dataset = Dataset::new("random", ids(USERS), ids(ITEMS), parts, vec![]).expect("the sizes agree");
    let mut tensors = Tensors::default();
    tensors.put_embeddings("learned", &embeddings);
    Ranker::new(Model::new(&dataset, Config::default(), tensors, Some(1))).expect("the tables are a model's")
}

fn ranking(c: &mut Criterion) {
    let ranker = ranker();
    let recommend = |users: &[u32]| ranker.recommend(users, 20, &Filter::default()).expect("the users exist");
    let everyone: Vec<u32> = (0..USERS as u32).collect();
    let mut group = c.benchmark_group("top 20 of 40,988 items, 64 dimensions");
    group.bench_function("one user", |b| b.iter(|| recommend(&[4711])));
    let words: Vec<u64> = (0..ITEMS * DIM / 2).map(|n| n as u64).collect();
    let read = || black_box(&words).iter().fold(0u64, |sum, word| sum.wrapping_add(*word));
    group.bench_function("reading the item table", |b| b.iter(read));
    group.bench_function("256 users", |b| b.iter(|| recommend(&everyone[..256])));
    group.sample_size(10).measurement_time(std::time::Duration::from_secs(20));
    group.bench_function("29,858 users", |b| b.iter(|| recommend(&everyone)));
    group.finish();
}

criterion_group!(benches, ranking);
criterion_main!(benches);
