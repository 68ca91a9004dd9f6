//! How long a full ranking takes: random embeddings of Gowalla's size, 27 training items masked for each user.

use criterion::{Criterion, criterion_group, criterion_main};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rivalry::Matrix;
use rivalry::data::Interactions;
use rivalry::eval::top_k_lists;

const USERS: usize = 29_858;
const ITEMS: usize = 40_988;
const WIDTH: usize = 64;

fn ranking(c: &mut Criterion) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut number = move || random.next_u32() as f32 / 2f32.powi(31) - 1.0;
    let users = Matrix::from_fn(USERS, WIDTH, |_, _| number());
    let items = Matrix::from_fn(ITEMS, WIDTH, |_, _| number());
    let seen =
        (0..USERS).flat_map(|u| (0..27).map(move |i| (u as u32, ((u * 7919 + i * 1511) % ITEMS) as u32)));
    let seen = Interactions::from_pairs(USERS, ITEMS, seen);
    let everyone: Vec<u32> = (0..USERS as u32).collect();

    let mut group = c.benchmark_group("full ranking, 29,858 × 40,988 × 64");
    group.sample_size(10).measurement_time(std::time::Duration::from_secs(20));
    group.bench_function("top 20", |b| {
        b.iter(|| top_k_lists(&users, &items, &everyone, &[&seen], 20).unwrap());
    });
    group.finish();
}

criterion_group!(benches, ranking);
criterion_main!(benches);
