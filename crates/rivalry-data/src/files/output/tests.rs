use std::fs;

use super::*;

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_appears_when_it_is_finished_and_is_replaced_on_request_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.txt");
    let output = Output::new(&path, false).unwrap();
    let mut unfinished = output.create().unwrap();
    unfinished.write_all(b"half").unwrap();
    unfinished.flush().unwrap();
    assert!(!path.exists());
    drop(unfinished);
    assert!(names(folder.path()).is_empty(), "nothing is left");
    output.write_all(b"first").unwrap();
    let error = Output::new(&path, false).unwrap_err();
    assert!(error.to_string().contains("out.txt: already exists") && error.exit_code() == 2, "{error}");
    Output::new(&path, true).unwrap().write_all(b"second").unwrap();
    assert_eq!(
        (fs::read(&path).unwrap(), names(folder.path())),
        (b"second".to_vec(), vec!["out.txt".into()])
    );
}

#[test]
fn folders_are_refused_and_dashes_are_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let error = Output::new(folder.path(), true).unwrap_err().to_string();
    assert!(error.contains("is a folder"), "{error}");
    let error = Output::new(&folder.path().join("none/out.txt"), false).unwrap_err().to_string();
    assert!(error.contains("out.txt: can't be written: there is no such folder"), "{error}");
    for name in ["-", "/dev/stdout"] {
        let output = Output::new(Path::new(name), false).unwrap();
        assert!(output.is_standard_output() && output.file().is_none());
    }
}

#[cfg(unix)]
#[test]
fn links_stay_and_the_file_behind_them_is_written() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("deep")).unwrap();
    symlink("deep/second", at("first")).unwrap();
    symlink("target", at("deep/second")).unwrap();
    // The target doesn't exist yet.
    let output = Output::new(&at("first"), false).unwrap();
    assert_eq!(output.file(), Some(&*at("deep/target")));
    output.write_all(b"one").unwrap();
    assert!(Output::new(&at("first"), false).is_err());
    Output::new(&at("first"), true).unwrap().write_all(b"two").unwrap();
    assert_eq!(fs::read(at("deep/target")).unwrap(), b"two");
    assert!(["first", "deep/second"].iter().all(|name| at(name).is_symlink()));
    symlink("circle", at("circle")).unwrap();
    assert!(Output::new(&at("circle"), true).is_err());
}

#[cfg(unix)]
#[test]
fn devices_and_pipes_are_streams() {
    use std::io::Read;
    use std::os::fd::AsRawFd;
    let folder = tempfile::tempdir().unwrap();
    let null = folder.path().join("null");
    std::os::unix::fs::symlink("/dev/null", &null).unwrap();
    let output = Output::new(&null, false).unwrap();
    assert_eq!(output.file(), None);
    output.write_all(b"gone").unwrap();
    assert!(null.is_symlink() && names(folder.path()) == ["null"]);
    let (mut reader, writer) = io::pipe().unwrap();
    let named = PathBuf::from(format!("/dev/fd/{}", writer.as_raw_fd()));
    Output::new(&named, false).unwrap().write_all(b"through").unwrap();
    drop(writer);
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert_eq!(text, "through");
}
