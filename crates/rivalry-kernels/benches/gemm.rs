//! The throughput of a large f32 matrix product in FLOP/s, as a reference for all other kernels.
//!
//! `cargo bench -p rivalry-kernels --bench gemm [-- THREADS]` (default: 2). Each thread computes a product of its own,
//! as in a full ranking.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::Instant;

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

/// The best rate of one thread while the others compute too.
fn best_rate(start: &Barrier) -> f64 {
    let (left, right) = (table(1), table(2));
    let mut out = vec![0.0f32; SIZE * SIZE];
    let mut once = || {
        let began = Instant::now();
        product(&left, &right, black_box(&mut out));
        began.elapsed().as_secs_f64()
    };
    start.wait();
    once();
    let best = (0..REPEATS).map(|_| once()).fold(f64::INFINITY, f64::min);
    2.0 * (SIZE as f64).powi(3) / best
}

/// `left · rightᵀ`, by the `gemm` crate.
fn product(left: &[f32], right: &[f32], out: &mut [f32]) {
    assert!(left.len() == SIZE * SIZE && right.len() == SIZE * SIZE && out.len() == SIZE * SIZE);
    let (one, row) = (1, SIZE as isize);
    // SAFETY: all three are SIZE × SIZE by the assertion, the strides describe row-major tables (`right` is read as its
    // transpose), and `out` is borrowed exclusively.
    unsafe {
        gemm::gemm(
            SIZE,
            SIZE,
            SIZE,
            out.as_mut_ptr(),
            one,
            row,
            false,
            left.as_ptr(),
            one,
            row,
            right.as_ptr(),
            row,
            one,
            0.0,
            1.0,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

fn table(seed: usize) -> Vec<f32> {
    (0..SIZE * SIZE).map(|n| ((n / SIZE * 131 + n % SIZE * 17 + seed) as f32 * 0.37).sin()).collect()
}
