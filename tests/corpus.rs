//! Every input that a fuzzer ever found worth keeping, given to the reader it was found with. None may panic.

use std::fs;
use std::path::Path;

#[path = "../fuzz/inputs.rs"]
mod inputs;

#[test]
fn every_kept_input_is_survived() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (name, input) in inputs::INPUTS {
        let files: Vec<_> =
            fs::read_dir(corpus.join(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(!files.is_empty(), "there is no corpus for {name}");
        for file in files {
            let bytes = fs::read(&file).unwrap();
            let survived = std::panic::catch_unwind(|| input(&bytes));
            assert!(survived.is_ok(), "{}", file.display());
        }
    }
    let _ = fs::remove_dir_all(inputs::root());
}
