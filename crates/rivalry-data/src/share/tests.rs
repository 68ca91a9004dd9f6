//! A share has the rows of its users and the counts, checksum and notes of the whole.

use std::fs;
use std::path::PathBuf;

use super::*;
use crate::write_benchmark;

/// A data set in a folder of its own; the latest of its users have no row in some set.
fn prepared(folder: &Path, settings: &str) -> PathBuf {
    let mut config = DataConfig::new("synthetic");
    config.prepare = toml::from_str(settings).unwrap();
    let dataset = load(&config, &LoadOptions::default(), &mut |_| {}).unwrap();
    let out = folder.join("prepared");
    write_benchmark(&dataset, &out, true).unwrap();
    out
}

fn loaded(config: &DataConfig, users: Range<u32>) -> Result<Dataset> {
    load_share(config, &LoadOptions::default(), &mut |_| Ok(users.clone()), &mut |_| {})
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
        for users in [0..n, 0..400, 400..401, 401..n, n..n] {
            let share = loaded(&config, users.clone()).unwrap();
            assert_eq!(share.checksum, whole.checksum, "{settings}");
            assert_eq!((&share.notes, &share.warnings), (&whole.notes, &whole.warnings));
            assert_eq!((&share.split, &share.name), (&whole.split, &whole.name));
            for (share, whole) in share.parts().into_iter().zip(whole.parts()) {
                assert_eq!(share.held_users(), users);
                assert_eq!((share.len(), share.item_counts()), (whole.len(), whole.item_counts()));
                assert!((0..n).all(|user| share.count_of(user) == whole.count_of(user)));
                assert!(users.clone().all(|user| share.items_of(user) == whole.items_of(user)));
                assert_eq!(share.held_len(), users.clone().map(|user| whole.count_of(user)).sum::<usize>());
            }
            let again = share.whole().unwrap();
            assert!(again.parts().into_iter().eq(whole.parts()));
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
