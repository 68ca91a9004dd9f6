use std::fs;

use super::*;

#[test]
fn an_existing_path_is_used_and_an_unknown_name_is_refused_with_help() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("clicks.csv");
    fs::write(&file, "").unwrap();
    let located = locate(file.to_str().unwrap(), None, &mut |_| {}).unwrap();
    assert_eq!((&*located.name, &located.location), ("clicks", &Location::Path(file)));
    let synthetic = locate("synthetic", None, &mut |_| {}).unwrap();
    assert_eq!(synthetic.location, Location::Synthetic(SyntheticConfig::default()));
    let error = locate("gowala", None, &mut |_| {}).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    assert!(error.to_string().contains("did you mean 'gowalla'?"), "{error}");
    let error = locate("./nowhere/clicks.csv", None, &mut |_| {}).unwrap_err().to_string();
    assert!(error.starts_with("./nowhere/clicks.csv: no such file"), "{error}");
}

const ZIP: &[u8] = b"not really a zip";

fn entry(url: String) -> CatalogueEntry {
    let file = RemoteFile { url, sha256: digest::of_bytes(ZIP), bytes: ZIP.len() as u64 };
    CatalogueEntry { name: "toy".into(), source: Source::Download(file), ..catalogue()[1].clone() }
}

#[cfg(not(feature = "download"))]
#[test]
fn without_the_feature_a_missing_data_set_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let folders = Folders { search: vec![folder.path().to_owned()], cache: None };
    let toy = entry("https://example.org/toy.zip".to_owned());
    let error = locate_entry(&toy, &folders, &mut |_| {}).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    let error = error.to_string();
    assert!(
        error.starts_with("this build can't download 'toy': it was built without the feature `download`")
    );
    assert!(error.contains("https://example.org/toy.zip"), "{error}");
    fs::write(folder.path().join("toy.zip"), ZIP).unwrap();
    assert!(locate_entry(&toy, &folders, &mut |_| {}).is_ok());
}

#[cfg(feature = "download")]
mod with_download {
    use super::*;
    use crate::download::tests::serve;

    #[test]
    fn a_named_data_set_is_found_in_order_verified_and_otherwise_downloaded_once() {
        let root = tempfile::tempdir().unwrap();
        let [first, second, cache] = ["first", "second", "cache"].map(|name| root.path().join(name));
        let folders = Folders { search: vec![first.clone(), second.clone()], cache: Some(cache.clone()) };
        let toy = entry(format!("{}/file", serve(ZIP)));
        let mut reports = vec![];
        let find = |reports: &mut Vec<u64>| {
            locate_entry(&toy, &folders, &mut |progress| {
                assert_eq!((progress.name, progress.total), ("toy", Some(ZIP.len() as u64)));
                reports.push(progress.done);
            })
        };
        assert_eq!(find(&mut reports).unwrap(), Location::Path(cache.join("toy.zip")));
        assert_eq!(reports.last(), Some(&(ZIP.len() as u64)));
        reports.clear();
        assert_eq!(find(&mut reports).unwrap(), Location::Path(cache.join("toy.zip")));
        assert_eq!(reports, [0; 0], "found, not downloaded again");

        fs::create_dir_all(second.join("toy")).unwrap();
        assert_eq!(find(&mut reports).unwrap(), Location::Path(second.join("toy")));
        fs::create_dir_all(&first).unwrap();
        fs::write(first.join("toy.zip"), "broken").unwrap();
        let error = find(&mut reports).unwrap_err().to_string();
        assert!(
            error.contains(&digest::of_bytes(b"broken")) && error.contains(&digest::of_bytes(ZIP)),
            "{error}"
        );
        assert!(error.contains("help: remove it"), "{error}");
    }

    #[test]
    fn a_failed_download_says_where_to_save_the_file() {
        let root = tempfile::tempdir().unwrap();
        let toy = entry(format!("{}/nowhere", serve(ZIP)));
        let folders = Folders { search: vec![], cache: Some(root.path().to_owned()) };
        let error = locate_entry(&toy, &folders, &mut |_| {}).unwrap_err();
        assert_eq!(error.exit_code(), 1);
        assert!(error.to_string().contains("toy.zip"), "{error}");
        let without_home = Folders { search: vec![], cache: None };
        assert_eq!(locate_entry(&toy, &without_home, &mut |_| {}).unwrap_err().exit_code(), 2);
    }
}
