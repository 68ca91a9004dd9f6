//! Builds one graph of a model's items and searches it for 200 users; see Cargo.toml.

use std::fs;

use hnsw_rs::prelude::{DistL2, Distance, Hnsw};
use usearch::{Index, IndexOptions, MetricKind, ScalarKind};

const LAYERS: usize = 16;
const USERS: usize = 200;
const K: usize = 20;

/// Rows of equal width.
struct Table {
    width: usize,
    values: Vec<f32>,
}

impl Table {
    /// Reads a two-dimensional array of 32-bit floats.
    fn read(path: &str) -> Self {
        let bytes = fs::read(path).expect("a file");
        let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        let header = String::from_utf8_lossy(&bytes[10..start]);
        let shape =
            header.split("'shape': (").nth(1).and_then(|rest| rest.split(')').next()).expect("a shape");
        let width =
            shape.split(',').nth(1).and_then(|text| text.trim().parse().ok()).expect("two dimensions");
        let values =
            bytes[start..].as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
        Self { width, values }
    }

    fn rows(&self) -> std::slice::ChunksExact<'_, f32> {
        self.values.chunks_exact(self.width)
    }
}

/// What a dot product lacks of the largest one.
#[derive(Clone)]
struct Missing(f32);

impl Distance<f32> for Missing {
    fn eval(&self, a: &[f32], b: &[f32]) -> f32 {
        (self.0 - dot(a, b)).max(0.0)
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; 16];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
    for (a, b) in a.iter().zip(b) {
        sums.iter_mut().zip(a).zip(b).for_each(|((sum, x), y)| *sum += x * y);
    }
    sums.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum::<f32>()
}

type Search = Box<dyn Fn(&[f32], usize) -> Vec<usize>>;

/// The search of a graph with these neighbours per item and items looked at when one is inserted.
fn build(kind: &str, items: &Table, neighbours: usize, looked_at: usize) -> Search {
    let (n, width) = (items.rows().len(), items.width);
    let longest = items.rows().map(|row| dot(row, row)).fold(0.0, f32::max);
    // One more coordinate makes all items equally long; a query has zero there.
    let reduced = |row: &[f32]| [row, &[(longest - dot(row, row)).max(0.0).sqrt()]].concat();
    match kind {
        "hnsw-dot" => {
            let graph = Hnsw::new(neighbours, n, LAYERS, looked_at, Missing(longest));
            items.rows().enumerate().for_each(|(item, row)| graph.insert((row, item)));
            Box::new(move |query, ef| {
                let scale = (longest / dot(query, query)).sqrt();
                let query: Vec<f32> = query.iter().map(|x| x * scale).collect();
                graph.search(&query, K, ef).iter().map(|found| found.d_id).collect()
            })
        }
        "hnsw-euclidean" => {
            let graph = Hnsw::new(neighbours, n, LAYERS, looked_at, DistL2 {});
            items.rows().enumerate().for_each(|(item, row)| graph.insert((&reduced(row), item)));
            Box::new(move |query, ef| {
                graph.search(&[query, &[0.0]].concat(), K, ef).iter().map(|found| found.d_id).collect()
            })
        }
        "usearch-dot" | "usearch-euclidean" => {
            let reduce = kind == "usearch-euclidean";
            let graph = Index::new(&IndexOptions {
                dimensions: width + usize::from(reduce),
                metric: if reduce { MetricKind::L2sq } else { MetricKind::IP },
                quantization: ScalarKind::F32,
                connectivity: neighbours,
                expansion_add: looked_at,
                ..IndexOptions::default()
            });
            let graph = graph.expect("an index");
            graph.reserve(n).expect("memory");
            for (item, row) in items.rows().enumerate() {
                let row = if reduce { reduced(row) } else { row.to_vec() };
                graph.add(item as u64, &row).expect("room");
            }
            Box::new(move |query, ef| {
                graph.change_expansion_search(ef);
                let query = if reduce { [query, &[0.0]].concat() } else { query.to_vec() };
                graph.search(&query, K).expect("a search").keys.iter().map(|&key| key as usize).collect()
            })
        }
        other => panic!("found {other}, expected hnsw-dot, hnsw-euclidean, usearch-dot or usearch-euclidean"),
    }
}

/// Seconds of processor time of this process.
fn processor() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields: Vec<&str> = stat.rsplit(')').next().expect("a name").split_whitespace().collect();
    fields[11..13].iter().map(|ticks| ticks.parse::<f64>().expect("a number")).sum::<f64>() / 100.0
}

fn megabytes() -> f64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
    line.trim().trim_end_matches(" kB").parse::<f64>().expect("a number") / 1024.0
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, folder, n, neighbours, looked_at] = &arguments[..] else {
        panic!("expected KIND FOLDER ITEMS NEIGHBOURS LOOKED_AT")
    };
    let number = |text: &String| text.parse::<usize>().expect("a whole number");
    let users = Table::read(&format!("{folder}/users.npy"));
    let mut items = Table::read(&format!("{folder}/items.npy"));
    items.values.truncate(number(n) * items.width);
    items.values.shrink_to_fit();
    let asked: Vec<&[f32]> = users.rows().step_by((users.rows().len() / USERS).max(1)).collect();
    let exact = |query: &[f32]| {
        let mut scores: Vec<(f32, usize)> = items.rows().map(|row| dot(row, query)).zip(0..).collect();
        scores.select_nth_unstable_by(K, |a, b| b.0.total_cmp(&a.0));
        scores[..K].iter().map(|&(_, item)| item).collect::<Vec<usize>>()
    };
    let best: Vec<Vec<usize>> = asked.iter().map(|query| exact(query)).collect();

    let (memory, start) = (megabytes(), processor());
    let search = build(kind, &items, number(neighbours), number(looked_at));
    println!("{kind}: {:.1} s, {:.0} MB", processor() - start, megabytes() - memory);
    for ef in [50, 100, 200, 400, 800] {
        let start = processor();
        let found: Vec<Vec<usize>> = asked.iter().map(|query| search(query, ef)).collect();
        let time = 1000.0 * (processor() - start) / asked.len() as f64;
        let hits =
            best.iter().zip(&found).flat_map(|(best, found)| best.iter().filter(|item| found.contains(item)));
        println!(
            "looked at {ef}: recall@{K} {:.3}, {time:.2} ms",
            hits.count() as f64 / (K * asked.len()) as f64
        );
    }
}
