//! Each kernel alone, at each instruction level that the machine has.
//!
//! `cargo bench -p rivalry-kernels --bench kernels [-- FILTER]`; `RIVALRY_SIMD=avx2` measures that level only. A
//! process has one level, so without the variable the benchmark starts itself once per level.
//!
//! Sizes are those of a training step: 1000 negatives with an embedding dimension of 64, gathered from a block of the
//! item table that fits the second-level cache, and from a table of Gowalla's size, which does not.

use std::hint::black_box;
use std::process::{Command, exit};
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use rivalry_kernels::{
    AdamStep, BlockedGather, LANES, Matrix, Real, SparseRows, ZERO, adam, add_to_rows, add_weighted_rows,
    add_weighted_sums, add_weighted_sums_transposed, dots, dots_packed, level_name, normalise,
    normalise_backward, pack_panels, spmm,
};

const NEGATIVES: usize = 1000;
const WIDTH: usize = 64;
/// In ascending order; a machine that has one has those before it.
const LEVELS: [&str; 3] = ["baseline", "avx2", "avx512"];
const TABLES: [(&str, usize); 2] = [("block", 1 << 10), ("table", 40_988)];

fn main() {
    if std::env::var_os("RIVALRY_SIMD").is_some() {
        let mut criterion = Criterion::default()
            .sample_size(20)
            .warm_up_time(Duration::from_millis(300))
            .measurement_time(Duration::from_secs(1))
            .configure_from_args();
        gathers(&mut criterion);
        products(&mut criterion);
        rows(&mut criterion);
        updates(&mut criterion);
        graph(&mut criterion);
        return;
    }
    let best = LEVELS.iter().position(|&level| level == level_name()).unwrap_or(0);
    for level in &LEVELS[..=best] {
        if let Err(reason) = run_at(level) {
            eprintln!("{level}: {reason}");
            exit(1);
        }
    }
}

/// Runs this benchmark in another process, at that level.
fn run_at(level: &str) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let status = Command::new(program).args(std::env::args().skip(1)).env("RIVALRY_SIMD", level).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(status.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

/// Times a kernel that processes `elements` elements per call.
fn time(criterion: &mut Criterion, kernel: &str, elements: usize, mut work: impl FnMut()) {
    let mut group = criterion.benchmark_group(kernel);
    group.throughput(Throughput::Elements(elements as u64));
    group.bench_function(BenchmarkId::from_parameter(level_name()), |bencher| bencher.iter(&mut work));
    group.finish();
}

/// Elements are negatives. Every iteration has its own; otherwise a thousand rows of any table would stay in the cache.
fn gathers(criterion: &mut Criterion) {
    let (weights, mut f, mut s) = (numbers(1), vec![0.0; NEGATIVES], vec![0.0; NEGATIVES]);
    for (place, rows) in TABLES {
        let (mut table, query) = (table(rows, 1), table(2, 2));
        let (a, b) = (query.row_lanes(0), query.row_lanes(1));
        let drawn: Vec<u32> = (0..64 * NEGATIVES).map(|n| scattered(n, rows)).collect();
        let mut draws = drawn.chunks(NEGATIVES).cycle();
        let mut draw = || draws.next().unwrap_or_default();
        time(criterion, &format!("dots, {place}"), NEGATIVES, || {
            dots(a, table.as_lanes(), draw(), black_box(&mut f));
        });
        time(criterion, &format!("dots_pair, {place}"), NEGATIVES, || {
            let gather = BlockedGather::new(draw(), NEGATIVES, &[0, NEGATIVES as u32], 1);
            for (mut block, mut other) in gather.split(black_box(&mut f)).zip(gather.split(&mut s)) {
                block.dots_pair(&mut other, [a, b], table.as_lanes());
            }
        });
        let mut gradient = Matrix::zeros(1, WIDTH);
        time(criterion, &format!("user gradient, {place}"), NEGATIVES, || {
            add_weighted_rows(table.as_lanes(), draw(), &weights, black_box(gradient.as_lanes_mut()));
        });
        time(criterion, &format!("item gradients, {place}"), NEGATIVES, || {
            add_to_rows(a, draw(), &weights, 0, black_box(table.as_lanes_mut()));
        });
    }
}

/// Elements are scores of 48 queries against a catalogue of 1200 items.
fn products(criterion: &mut Criterion) {
    const QUERIES: usize = 48;
    const ITEMS: usize = 1200;
    let (items, queries) = (table(ITEMS, 1), table(QUERIES, 2));
    let lanes = items.lanes();
    let mut panels = vec![ZERO; ITEMS.next_multiple_of(LANES) * lanes];
    time(criterion, "pack panels", ITEMS, || pack_panels(items.as_lanes(), lanes, black_box(&mut panels)));
    let mut scores = Matrix::zeros(QUERIES, ITEMS);
    time(criterion, "all scores", QUERIES * ITEMS, || {
        let stride = scores.lanes();
        dots_packed(queries.as_lanes(), lanes, &panels, black_box(scores.as_lanes_mut()), stride);
    });
    let weights: Vec<f32> = (0..QUERIES * ITEMS).map(|n| (n as f32 * 0.37).sin()).collect();
    let mut sums = Matrix::zeros(QUERIES, WIDTH);
    time(criterion, "all user gradients", QUERIES * ITEMS, || {
        add_weighted_sums(&weights, ITEMS, items.as_lanes(), lanes, black_box(sums.as_lanes_mut()));
    });
    let mut sums = Matrix::zeros(ITEMS, WIDTH);
    time(criterion, "all item gradients", QUERIES * ITEMS, || {
        let out = black_box(sums.as_lanes_mut());
        add_weighted_sums_transposed(&weights, ITEMS, queries.as_lanes(), lanes, out);
    });
}

/// Elements are negatives.
fn rows(criterion: &mut Criterion) {
    let (f, s, mut out) = (numbers(1), numbers(2), vec![0.0; NEGATIVES]);
    let mut scale = vec![0.0; NEGATIVES];
    time(criterion, "importance weights", NEGATIVES, || {
        f32::importance_weights(black_box(&f), &s, 1.0, 0.05, true, &mut scale);
    });
    time(criterion, "log-sum-exp", NEGATIVES, || {
        black_box(f32::log_sum_exp(0.5, black_box(&f), None, None, 5.0, 1.0, &mut out));
    });
    time(criterion, "scaled log-sum-exp", NEGATIVES, || {
        black_box(f32::log_sum_exp(0.5, black_box(&f), Some(&scale), None, 5.0, 1.0, &mut out));
    });
    time(criterion, "top-k log-mean-exp", NEGATIVES, || {
        black_box(f32::top_k_log_mean_exp(black_box(&f), &s, 0.2, 20));
    });
}

/// Elements are rows.
fn updates(criterion: &mut Criterion) {
    let step = AdamStep {
        beta1: 0.9,
        beta2: 0.999,
        epsilon: 1e-8,
        weight_decay: 0.0,
        rate: 1e-3,
        second_correction: 1.0,
    };
    for (place, rows) in TABLES {
        let [mut params, mut first, mut second, mut grads] = [1, 2, 3, 4].map(|seed| table(rows, seed));
        second.as_lanes_mut().iter_mut().for_each(|lane| lane.0 = lane.0.map(f32::abs));
        time(criterion, &format!("adam, {place}"), rows, || {
            let moments = (first.as_lanes_mut(), second.as_lanes_mut());
            adam(black_box(&step), params.as_lanes_mut(), moments.0, moments.1, grads.as_lanes());
        });
        let (mut unit, mut inverse_norms) = (Matrix::zeros(rows, WIDTH), vec![0.0; rows]);
        let lanes = unit.lanes();
        time(criterion, &format!("normalise, {place}"), rows, || {
            normalise(black_box(params.as_lanes()), lanes, unit.as_lanes_mut(), &mut inverse_norms);
        });
        // Norms of one: gradients that shrink with every iteration would become subnormal.
        inverse_norms.fill(1.0);
        time(criterion, &format!("normalise_backward, {place}"), rows, || {
            normalise_backward(unit.as_lanes(), lanes, black_box(&inverse_norms), grads.as_lanes_mut());
        });
    }
}

/// Elements are edges: 25 for each of Gowalla's items.
fn graph(criterion: &mut Criterion) {
    let (n, degree) = (TABLES[1].1, 25);
    let offsets: Vec<usize> = (0..=n).map(|row| row * degree).collect();
    let columns: Vec<u32> = (0..n * degree).map(|edge| scattered(edge, n)).collect();
    let (scale, x, mut out) = (vec![0.2; n], table(n, 1), Matrix::zeros(n, WIDTH));
    let graph = SparseRows { offsets: &offsets, columns: &columns, target: &scale, source: &scale };
    time(criterion, "spmm", columns.len(), || {
        spmm(black_box(graph), x.as_lanes(), 1.0, None, out.as_lanes_mut());
    });
}

/// Row ids without a pattern that a hardware prefetcher could detect.
fn scattered(n: usize, rows: usize) -> u32 {
    ((n * n * 7919 + n * 104_729) % rows) as u32
}

fn numbers(seed: usize) -> Vec<f32> {
    (0..NEGATIVES).map(|n| ((n * 17 + seed) as f32 * 0.37).sin()).collect()
}

fn table(rows: usize, seed: usize) -> Matrix {
    Matrix::from_fn(rows, WIDTH, |r, c| ((r * 131 + c * 17 + seed) as f32 * 0.37).sin())
}
