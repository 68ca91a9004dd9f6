//! The files are those of preparing the log in memory, to the byte.

#[cfg(feature = "parquet")]
mod parquet;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::memory::MemoryLimit;
use crate::read::stream::StreamSizes;
use crate::{DataConfig, LoadOptions, PrepareProgress, Split, Validation, prepare_folder};

/// A few pairs at a time, and text in blocks of a few rows.
fn tiny() -> Budget {
    let memory = MemoryLimit::default();
    let stream = StreamSizes { block: 150, ids: usize::MAX, numbers: 8, rows: 64, memory };
    Budget { stream, run: 24 * 7, fan_in: 3, buffer: 50, block: 5 }
}

/// The files of a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let content =
        |path: PathBuf| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap());
    fs::read_dir(folder).unwrap().map(|entry| content(entry.unwrap().path())).collect()
}

/// Prepares a source some rows at a time.
fn streamed(config: &DataConfig, out: &Path, budget: &Budget) -> Result<Prepared> {
    let path = Path::new(&config.source);
    let reading = ReadOptions { needs_ratings: config.prepare.min_rating.is_some(), ..config.read.clone() };
    let stream = Stream::open(path, &reading)?.expect("a table that can be read in blocks");
    let name = path.file_stem().unwrap().to_string_lossy();
    let task = Task { name: &name, stream: &stream, reading: &reading, preparation: &config.prepare };
    prepare(&task, (out, false), budget, &mut |_, _, _| {})
}

/// Prepares a source in both ways, and compares all that comes out, errors included. Returns what was written.
#[track_caller]
fn same(folder: &TempDir, config: &DataConfig, budget: &Budget) -> Option<BTreeMap<String, Vec<u8>>> {
    let outs = TempDir::new_in(folder).unwrap();
    let (whole, parts) = (outs.path().join("whole"), outs.path().join("parts"));
    let expected = prepare_folder(config, &LoadOptions::default(), (&whole, false), &mut |progress| {
        assert!(!matches!(progress, PrepareProgress::Step { .. }), "this must be the way in memory");
    });
    let found = streamed(config, &parts, budget);
    match (expected, found) {
        (Ok(expected), Ok(found)) => {
            assert_eq!(format!("{found:?}"), format!("{expected:?}"));
            let written = files(&whole);
            for (name, content) in &written {
                let found = fs::read(parts.join(name)).unwrap_or_default();
                assert_eq!(String::from_utf8_lossy(&found), String::from_utf8_lossy(content), "{name}");
            }
            assert_eq!(files(&parts).len(), written.len());
            assert_eq!(fs::read_dir(outs.path()).unwrap().count(), 2, "nothing else is left");
            Some(written)
        }
        (expected, found) => {
            let message =
                |outcome: Result<Prepared>| outcome.map_or_else(|e| e.to_string(), |_| "fine".into());
            assert_eq!(message(found), message(expected));
            assert_eq!(fs::read_dir(outs.path()).unwrap().count(), 0, "nothing is left");
            None
        }
    }
}

#[derive(Clone, Debug)]
struct Row {
    user: u32,
    item: u32,
    rating: u32,
    time: i64,
}

fn log() -> impl Strategy<Value = Vec<Row>> {
    let user = prop_oneof![4 => 0..6_u32, 1 => 0..40_u32];
    let row = (user, 0..12_u32, 1..6_u32, prop_oneof![0..5_i64, -3000..3000_i64]);
    let row = row.prop_map(|(user, item, rating, time)| Row { user, item, rating, time });
    prop::collection::vec(row, 1..220)
}

fn preparation() -> impl Strategy<Value = Preparation> {
    let split = prop_oneof![
        Just(Split::Auto {}),
        Just(Split::None {}),
        Just(Split::Random { test: 0.3 }),
        Just(Split::LeaveLast { n: 2 }),
        Just(Split::Time { test: 0.25 }),
    ];
    let validation = prop_oneof![
        3 => Just(Validation::Auto {}),
        1 => Just(Validation::None {}),
        1 => Just(Validation::Random { ratio: 0.2 }),
        1 => Just(Validation::LeaveLast { n: 1 }),
        1 => Just(Validation::Time { ratio: 0.2 }),
    ];
    let min_rating = prop_oneof![2 => Just(None), 1 => Just(Some(3.0_f32))];
    (split, validation, min_rating, 0..4_u32, 0..4_u32, 0..3_u64).prop_map(
        |(split, validation, min_rating, user_core, item_core, seed)| Preparation {
            min_rating,
            user_core,
            item_core,
            seed,
            split,
            validation,
            noise: 0.0,
        },
    )
}

/// How ids are written.
#[derive(Clone, Copy, Debug)]
enum Ids {
    Numbers,
    FarNumbers,
    Text,
    /// Text after some rows with numbers.
    TextLater,
    Quoted,
}

impl Ids {
    fn write(self, n: u32, row: usize) -> String {
        match self {
            Self::Numbers => format!("{n}"),
            Self::FarNumbers => format!("{}", n * 90_000_001),
            Self::TextLater if row < 60 => format!("{n}"),
            Self::Text | Self::TextLater => format!("{}-{n}", "long".repeat(n as usize % 5)),
            // Line breaks within fields, so that these go from one block to the next.
            Self::Quoted => format!("\"{n}, \n of {n}\""),
        }
    }
}

fn csv(rows: &[Row], ids: Ids, header: bool, start: usize) -> String {
    let mut text = if header { "user,item,rating,time\n".to_owned() } else { String::new() };
    for (place, row) in (start..).zip(rows) {
        let (user, item) = (ids.write(row.user, place), ids.write(row.item, place));
        text += &format!("{user},{item},{},{}\n", row.rating, row.time);
    }
    text
}

fn config(source: &Path, preparation: Preparation) -> DataConfig {
    DataConfig { prepare: preparation, ..DataConfig::new(source.to_string_lossy()) }
}

fn any_ids() -> impl Strategy<Value = Ids> {
    prop_oneof![Just(Ids::Numbers), Just(Ids::FarNumbers), Just(Ids::Text), Just(Ids::TextLater)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_file(rows in log(), preparation in preparation(), ids in any_ids(), header: bool) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("log.csv");
        fs::write(&path, csv(&rows, ids, header, 0)).unwrap();
        let mut config = config(&path, preparation);
        config.read.header = Some(header);
        same(&folder, &config, &tiny());
    }

    #[test]
    fn a_folder_of_parts(rows in log(), preparation in preparation(), ids in any_ids(), size in 1..80_usize) {
        let folder = TempDir::new().unwrap();
        let parts = folder.path().join("log");
        fs::create_dir(&parts).unwrap();
        fs::write(parts.join("_SUCCESS"), "").unwrap();
        fs::write(parts.join("part-00000.csv"), "").unwrap(); // as Spark writes a part without rows
        for (n, some) in rows.chunks(size).enumerate() {
            let text = csv(some, ids, true, n * size);
            fs::write(parts.join(format!("part-{:05}.csv", n + 1)), text).unwrap();
        }
        let written = same(&folder, &config(&parts, preparation.clone()), &tiny());
        // And both are as one file.
        let path = folder.path().join("log.csv");
        fs::write(&path, csv(&rows, ids, true, 0)).unwrap();
        prop_assert_eq!(written, same(&folder, &config(&path, preparation), &tiny()));
    }

    #[test]
    fn fields_that_span_blocks(rows in log()) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("log.csv");
        let plain = csv(&rows, Ids::Quoted, true, 0).replace("user,item", "user,note").replace("rating", "item");
        fs::write(&path, plain.replace("\n of", " \n")).unwrap();
        let mut config = config(&path, Preparation::default());
        config.read.user = Some("time".to_owned());
        same(&folder, &config, &tiny());
    }

    #[test]
    fn bad_rows(rows in log(), preparation in preparation(), bad in prop::collection::vec(0..220_usize, 1..4), skip: bool) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("log.csv");
        let mut lines: Vec<String> = csv(&rows, Ids::Numbers, true, 0).lines().map(str::to_owned).collect();
        for (kind, at) in bad.into_iter().enumerate() {
            let line = ["7,,3,1", "7,1", "# a comment, and more, of, it, all", "1,2,good,5"][kind % 4];
            lines.insert(1 + at % lines.len(), line.to_owned());
        }
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        let mut config = config(&path, preparation);
        config.read.skip_bad_rows = skip;
        same(&folder, &config, &tiny());
    }
}

#[cfg(feature = "archives")]
#[test]
fn compressed_parts() {
    let folder = TempDir::new().unwrap();
    let parts = folder.path().join("log");
    fs::create_dir(&parts).unwrap();
    let rows: Vec<Row> = (0..900)
        .map(|n| Row { user: n % 31, item: n * 7 % 53, rating: 1 + n % 5, time: i64::from(n) })
        .collect();
    for (n, some) in rows.chunks(300).enumerate() {
        let text = csv(some, Ids::Text, true, 0);
        fs::write(parts.join(format!("data_{n}.csv.zst")), zstd::encode_all(text.as_bytes(), 1).unwrap())
            .unwrap();
    }
    let preparation = Preparation { split: Split::Time { test: 0.2 }, ..Preparation::default() };
    let written = same(&folder, &config(&parts, preparation), &tiny()).unwrap();
    assert!(written["summary.txt"].starts_with(b"log\n"));
    fs::write(parts.join("data_1.csv.zst"), [0x28, 0xb5, 0x2f, 0xfd, 1, 2, 3]).unwrap();
    let error = streamed(&config(&parts, Preparation::default()), &folder.path().join("x"), &tiny());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("data_1.csv.zst: broken zstd file"), "{error}");
}

#[test]
fn parts_with_other_columns_are_refused() {
    let folder = TempDir::new().unwrap();
    let parts = folder.path().join("log");
    fs::create_dir(&parts).unwrap();
    fs::write(parts.join("part-1.csv"), "user,item\n1,2\n3,4\n").unwrap();
    fs::write(parts.join("part-2.csv"), "item,user\n1,2\n").unwrap();
    assert_eq!(same(&folder, &config(&parts, Preparation::default()), &tiny()), None);
    let error =
        crate::read::read(&parts, &ReadOptions::default(), MemoryLimit::default()).unwrap_err().to_string();
    let expected = "part-2.csv:1: the columns are item, user, but those of part-1.csv are user, item";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn what_doesnt_fit_into_memory_is_prepared_in_parts_by_itself() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("log.csv");
    let rows: Vec<Row> = (0..20_000)
        .map(|n| Row { user: n * 13 % 701, item: n * n % 97, rating: 1, time: i64::from(n) })
        .collect();
    fs::write(&path, csv(&rows, Ids::Numbers, true, 0)).unwrap();
    let config = config(&path, Preparation { user_core: 5, ..Preparation::default() });
    let prepare = |name: &str, memory| {
        let (mut steps, out) = (Vec::new(), folder.path().join(name));
        let options = LoadOptions { memory, ..LoadOptions::default() };
        let prepared = prepare_folder(&config, &options, (&out, false), &mut |progress| {
            if let PrepareProgress::Step { what, done, total } = progress {
                assert!(done <= total);
                steps.push(what);
            }
        });
        steps.dedup();
        (prepared.unwrap(), steps, files(&out))
    };
    let (expected, steps, whole) = prepare("whole", MemoryLimit::bytes(1 << 30));
    assert_eq!(steps, [""; 0]);
    let (found, steps, parts) = prepare("parts", MemoryLimit::bytes(500_000));
    assert_eq!(steps, ["reading", "sorting", "k-core", "writing"]);
    assert_eq!((found, parts), (expected, whole));
}

#[test]
fn what_needs_everything_in_memory_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("log.csv");
    let rows: Vec<Row> = (0..3000).map(|n| Row { user: n % 91, item: n % 89, rating: 1, time: 1 }).collect();
    fs::write(&path, csv(&rows, Ids::Text, true, 0)).unwrap();
    let refused = |preparation: Preparation, bytes| {
        let options = LoadOptions { memory: MemoryLimit::bytes(bytes), ..LoadOptions::default() };
        let out = folder.path().join("out");
        let outcome = prepare_folder(&config(&path, preparation), &options, (&out, false), &mut |_| {});
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left");
        outcome.unwrap_err().to_string()
    };
    let popularity = Preparation { split: Split::Popularity { test: 0.2 }, ..Preparation::default() };
    let error = refused(popularity, 60_000);
    assert!(error.contains("a popularity split needs all pairs in memory"), "{error}");
    let error = refused(Preparation { noise: 0.1, ..Preparation::default() }, 60_000);
    assert!(error.contains("data.prepare.noise: adding false pairs needs all pairs"), "{error}");
    let error = refused(Preparation::default(), 3000);
    assert!(error.contains("the different ids of the first") && error.contains("--max-memory"), "{error}");
}
