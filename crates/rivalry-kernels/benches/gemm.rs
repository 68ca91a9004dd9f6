//! The rate of a large f32 matrix product, the yardstick for everything else: floating-point operations a second.
//!
//! `cargo bench -p rivalry-kernels --bench gemm [-- THREADS]` (default: 2). Each thread has a product of its own, as in
//! the full ranking.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::Instant;

use rivalry_kernels::{Matrix, score_block};

const SIZE: usize = 1024;
const REPEATS: usize = 12;

fn main() {
    let threads = std::env::args().find_map(|arg| arg.parse().ok()).unwrap_or(2).max(1);
    let start = Barrier::new(threads);
    let rate: f64 = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| best_rate(&start))).collect();
        workers.into_iter().map(|worker| worker.join().expect("no product panics")).sum()
    });
    println!("{rate:.0}");
}

/// The best rate of one thread, while the others are at it too.
fn best_rate(start: &Barrier) -> f64 {
    let (users, items) = (table(1), table(2));
    let mut out = vec![0.0; SIZE * SIZE];
    let mut once = || {
        let began = Instant::now();
        score_block(users.as_lanes(), items.as_lanes(), users.lanes(), black_box(&mut out));
        began.elapsed().as_secs_f64()
    };
    start.wait();
    once();
    let best = (0..REPEATS).map(|_| once()).fold(f64::INFINITY, f64::min);
    2.0 * (SIZE as f64).powi(3) / best
}

fn table(seed: usize) -> Matrix {
    Matrix::from_fn(SIZE, SIZE, |r, c| ((r * 131 + c * 17 + seed) as f32 * 0.37).sin())
}
