//! A share has the rows of its users and the counts, checksum and notes of the whole.

use std::fs;
use std::path::PathBuf;
use std::sync::{Barrier, Mutex};

use super::*;
use crate::prepared_blocks::USERS;
use crate::write_benchmark;

/// Threads as processes, which meet in each call.
struct Threads<'a> {
    rank: usize,
    size: usize,
    given: &'a Mutex<Vec<Vec<Vec<u8>>>>,
    barrier: &'a Barrier,
}

impl Peers for Threads<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn all_gather(&self, bytes: &[u8]) -> Vec<Vec<u8>> {
        self.all_to_all(vec![bytes.to_vec(); self.size])
    }

    fn all_to_all(&self, parts: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        self.given.lock().unwrap()[self.rank] = parts;
        self.barrier.wait();
        let mine = self.given.lock().unwrap().iter().map(|parts| parts[self.rank].clone()).collect();
        self.barrier.wait();
        mine
    }
}

/// What each of so many processes gives.
fn together<T: Send>(size: usize, work: impl Fn(&Threads<'_>) -> T + Sync) -> Vec<T> {
    let (given, barrier) = (Mutex::new(vec![Vec::new(); size]), Barrier::new(size));
    let rank = |rank| Threads { rank, size, given: &given, barrier: &barrier };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..size)
            .map(|number| {
                scope.spawn({
                    let (rank, work) = (&rank, &work);
                    move || work(&rank(number))
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// A data set in a folder of its own; the latest of its users have no row in some set.
fn prepared(folder: &Path, settings: &str) -> PathBuf {
    let mut config = DataConfig::new("synthetic");
    config.prepare = toml::from_str(settings).unwrap();
    let dataset = load(&config, &LoadOptions::default(), &mut |_| {}).unwrap();
    let out = folder.join("prepared");
    write_benchmark(&dataset, &out, true).unwrap();
    out
}

/// As one process among others.
fn loaded_by(peers: &dyn Peers, config: &DataConfig, users: Range<u32>) -> Result<Dataset> {
    load_share(config, &LoadOptions::default(), peers, &mut |_| Ok(users.clone()), &mut |_| {})
}

fn loaded(config: &DataConfig, users: Range<u32>) -> Result<Dataset> {
    together(1, |alone| loaded_by(alone, config, users.clone())).swap_remove(0)
}

/// Without its list of blocks, as an earlier release wrote it.
fn without_blocks(folder: &Path) {
    let list = fs::read_to_string(folder.join("checksums.txt")).unwrap();
    let mut checksums = PreparedChecksums::default();
    let lines = list.lines().skip(1).filter_map(|line| line.split_once("  "));
    lines
        .filter(|(_, name)| *name != "blocks.txt")
        .for_each(|(sum, name)| checksums.put(name, sum.to_owned()));
    fs::write(folder.join("checksums.txt"), checksums.to_bytes()).unwrap();
    fs::remove_file(folder.join("blocks.txt")).unwrap();
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// Whether a share is that of these users in a data set.
fn check_share(share: &Dataset, whole: &Dataset, users: &Range<u32>) {
    assert_eq!(share.checksum, whole.checksum);
    assert_eq!((&share.notes, &share.warnings), (&whole.notes, &whole.warnings));
    assert_eq!((&share.split, &share.users, &share.items), (&whole.split, &whole.users, &whole.items));
    for (share, whole) in share.parts().into_iter().zip(whole.parts()) {
        assert_eq!(share.held_users(), *users);
        assert_eq!((share.len(), share.item_counts()), (whole.len(), whole.item_counts()));
        assert!((0..whole.n_users() as u32).all(|user| share.count_of(user) == whole.count_of(user)));
        assert!(users.clone().all(|user| share.items_of(user) == whole.items_of(user)));
        assert_eq!(share.held_len(), users.clone().map(|user| whole.count_of(user)).sum::<usize>());
    }
}

#[test]
fn shares_are_parts_of_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    for settings in ["", "split = { type = 'popularity' }", "split = { type = 'none' }"] {
        let mut config = DataConfig::new(prepared(folder.path(), settings).to_str().unwrap());
        if settings.contains("type") {
            config.prepare.validation = Validation::None {};
        }
        let whole = load(&config, &LoadOptions::default(), &mut |_| {}).unwrap();
        let n = whole.users.len() as u32;
        for has_blocks in [true, false] {
            if !has_blocks {
                without_blocks(Path::new(&config.source));
            }
            for users in [0..n, 0..400, 400..401, 401..n, n..n] {
                let share = loaded(&config, users.clone()).unwrap();
                check_share(&share, &whole, &users);
                assert_eq!(share.name, whole.name);
                assert!(share.whole().unwrap().parts().into_iter().eq(whole.parts()));
            }
            for ranks in [2, 3, 7] {
                let users =
                    |rank: usize| rank as u32 * n / ranks as u32..(rank as u32 + 1) * n / ranks as u32;
                together(ranks, |peers| {
                    let share = loaded_by(peers, &config, users(peers.rank())).unwrap();
                    check_share(&share, &whole, &users(peers.rank()));
                });
            }
        }
    }
}

/// Where the pairs of a range of blocks are in a table.
fn bytes_of(folder: &Path, table: &str, blocks: Range<usize>) -> Range<usize> {
    let text = fs::read_to_string(folder.join("blocks.txt")).unwrap();
    let starts = text.lines().filter_map(|line| line.strip_prefix(&format!("{table}\t"))?.split_once('\t'));
    let starts: Vec<usize> = starts.map(|(start, _)| start.parse().unwrap()).collect();
    let end = fs::metadata(folder.join(table)).unwrap().len() as usize;
    let place = |block: usize| starts.get(block).copied().unwrap_or(end);
    place(blocks.start)..place(blocks.end)
}

/// Overwrites bytes of a table.
fn overwrite(folder: &Path, table: &str, bytes: Range<usize>) {
    let mut content = fs::read(folder.join(table)).unwrap();
    content[bytes].fill(b'x');
    fs::write(folder.join(table), content).unwrap();
}

#[test]
fn each_process_reads_its_own_part_alone() {
    let root = tempfile::tempdir().unwrap();
    let source = prepared(root.path(), "");
    let config = |folder: &Path| DataConfig::new(folder.to_str().unwrap());
    let whole = load(&config(&source), &LoadOptions::default(), &mut |_| {}).unwrap();
    let n_blocks = whole.users.len().div_ceil(USERS);
    let (n, half) = (whole.users.len() as u32, (n_blocks / 2 * USERS) as u32);
    assert!(n_blocks >= 4, "{n_blocks}");
    let users = |rank: usize| if rank == 0 { 0..half } else { half..n };
    // Each has a folder of its own, in which all that it needs neither for counting nor for its users is overwritten.
    let folder = |rank: usize| root.path().join(rank.to_string());
    let hosts = |peers: &dyn Peers| loaded_by(peers, &config(&folder(peers.rank())), users(peers.rank()));
    (0..2).for_each(|rank| copy(&source, &folder(rank)));
    for table in ["train.tsv", "valid.tsv", "test.tsv"] {
        overwrite(&folder(0), table, bytes_of(&source, table, n_blocks - 1..n_blocks));
        overwrite(&folder(1), table, bytes_of(&source, table, 0..1));
    }
    for (rank, share) in together(2, |peers| hosts(peers)).into_iter().enumerate() {
        check_share(&share.unwrap(), &whole, &users(rank));
        assert!(load(&config(&folder(rank)), &LoadOptions::default(), &mut |_| {}).is_err());
    }
    // Damage in what one counts or keeps is found by that one, which names the file; the other has no fault.
    for rank in [0, 1] {
        for table in ["train.tsv", "test.tsv"] {
            (0..2).for_each(|rank| fs::remove_dir_all(folder(rank)).unwrap());
            (0..2).for_each(|rank| copy(&source, &folder(rank)));
            let first = bytes_of(&source, table, if rank == 0 { 0..1 } else { n_blocks - 1..n_blocks }).start;
            overwrite(&folder(rank), table, first..first + 1);
            let results = together(2, |peers| hosts(peers).map_err(|error| error.to_string()));
            let error = results[rank].as_ref().unwrap_err();
            assert!(error.contains(table) && error.contains("prepare the data again"), "{error}");
            check_share(results[1 - rank].as_ref().unwrap(), &whole, &users(1 - rank));
            // What the other has counted is checked, too, by the one that keeps it.
            fs::remove_dir_all(folder(1 - rank)).unwrap();
            fs::rename(folder(rank), folder(1 - rank)).unwrap();
            copy(&source, &folder(rank));
            let swapped = together(2, |peers| {
                let (folder, users) = (folder(peers.rank()), users(1 - peers.rank()));
                loaded_by(peers, &config(&folder), users).map(|_| ()).map_err(|error| error.to_string())
            });
            assert!(
                swapped[rank].is_ok() && swapped[1 - rank].as_ref().is_err_and(|error| error.contains(table))
            );
        }
    }
}

#[test]
fn processes_that_see_other_data_have_other_checksums() {
    let root = tempfile::tempdir().unwrap();
    let (one, other) = (prepared(root.path(), ""), root.path().join("other"));
    fs::rename(&one, &other).unwrap();
    let one = prepared(root.path(), "seed = 7");
    let folders = [one, other, root.path().join("missing")];
    for (ranks, expected) in [([0, 1], [true, true]), ([1, 2], [true, false]), ([2, 0], [false, true])] {
        let results = together(2, |peers| {
            let folder = &folders[ranks[peers.rank()]];
            loaded_by(peers, &DataConfig::new(folder.to_str().unwrap()), 0..9)
        });
        assert_eq!([results[0].is_ok(), results[1].is_ok()], expected);
        if let [Ok(first), Ok(second)] = &results[..] {
            assert_ne!(first.checksum, second.checksum);
        }
    }
}

#[test]
fn what_is_still_to_be_filtered_or_split_is_read_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let source = prepared(folder.path(), "");
    let with = |settings: &str| DataConfig {
        prepare: toml::from_str(settings).unwrap(),
        ..DataConfig::new(source.to_str().unwrap())
    };
    let is_share = |config: &DataConfig| loaded(config, 0..3).unwrap().train.held_users() == (0..3);
    assert!(is_share(&with("")) && is_share(&with("split.type = 'given'")));
    for settings in ["user_core = 2", "noise = 0.1", "split.type = 'random'", "validation.type = 'none'"] {
        assert!(!is_share(&with(settings)), "{settings}");
    }
    assert!(!is_share(&DataConfig::new("synthetic")));
    fs::remove_file(source.join("checksums.txt")).unwrap();
    assert!(!is_share(&with("")));
}

#[test]
fn damage_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let source = prepared(folder.path(), "");
    let config = DataConfig::new(source.to_str().unwrap());
    let share = loaded(&config, 5..9).unwrap();
    for file in ["train.tsv", "test.tsv"] {
        let content = fs::read(source.join(file)).unwrap();
        let last_digit = content.len() - 2;
        for (place, byte) in [(last_digit, b'x'), (last_digit, content[last_digit] ^ 1), (30, b'\n')] {
            let mut changed = content.clone();
            changed[place] = byte;
            fs::write(source.join(file), changed).unwrap();
            let error = loaded(&config, 0..9).unwrap_err().to_string();
            assert!(error.contains(file) && error.contains("prepare the data again"), "{error}");
        }
        fs::write(source.join(file), &content[..content.len() / 2]).unwrap();
        assert!(loaded(&config, 0..9).is_err() && share.whole().is_err());
        fs::write(source.join(file), &content).unwrap();
    }
    assert!(share.whole().is_ok());
}
