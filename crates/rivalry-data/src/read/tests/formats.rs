//! Every format, read from valid files.

use super::super::FORMATS;
use super::*;

pub(super) const RATINGS: &str = "userId,movieId,rating,timestamp\n1,31,2.5,1260759144\n7,31,4.0,851868750\n";
pub(super) const RATINGS_READ: [&str; 2] = ["1 31 2.5 @1260759144", "7 31 4 @851868750"];

#[test]
fn csv_with_a_header_as_in_movielens() {
    let data = read_text("ratings.csv", RATINGS, &defaults()).unwrap();
    assert_eq!(whole(&data), RATINGS_READ);
    assert_eq!((data.users.len(), data.items.len(), data.users.dense("7")), (2, 1, Some(1)));
    assert!(data.notes.is_empty());
}

#[test]
fn csv_with_byte_order_mark_carriage_returns_quotes_and_dates() {
    let text = "\u{feff}Item-ID;Stars;User ID;date\r\n\"a;1\";5; x y ;2024-05-01\r\n b ;1;\"z\";2024-05-01 00:01\r\n\r\n\r\n";
    let data = read_text("log.txt", text, &defaults()).unwrap();
    assert_eq!(whole(&data), ["x y a;1 5 @1714521600", "z b 1 @1714521660"]);
}

#[test]
fn csv_without_a_header_has_a_fixed_column_order_and_a_note() {
    let data = read_text("log.csv", "alice,tea,4\nbob,tea,3", &defaults()).unwrap();
    assert_eq!(whole(&data), ["alice tea 4", "bob tea 3"]);
    assert!(
        data.notes[0].ends_with("no header; read as column 1 (user), column 2 (item), column 3 (rating)")
    );
    let data = read_text("pairs", "3 5\n3 6\n", &defaults()).unwrap();
    assert_eq!(whole(&data), ["3 5", "3 6"]);
}

#[test]
fn csv_with_requested_columns_and_delimiter() {
    let some = |text: &str| Some(text.to_owned());
    let numbered = ReadOptions { user: some("3"), item: some("1"), rating: some(""), ..defaults() };
    assert_eq!(whole(&read_text("a.csv", "x,0,u,9\ny,0,v,9\n", &numbered).unwrap()), ["u x @9", "v y @9"]);
    let named = ReadOptions { user: some("who"), item: some("what"), ..defaults() };
    assert_eq!(whole(&read_text("a.csv", "what,who\nx,u\n", &named).unwrap()), ["u x"]);
    let marked = ReadOptions { delimiter: Some('^'), header: Some(false), ..defaults() };
    assert_eq!(whole(&read_text("a", "user^item\n1^2\n", &marked).unwrap()), ["user item", "1 2"]);
}

#[test]
fn recbole_atomic_files() {
    let text = "user_id:token\titem_id:token\trating:float\ttimestamp:float\n196\t\"242\t3\t881250949.0\n";
    assert_eq!(whole(&read_text("ml.inter", text, &defaults()).unwrap()), ["196 \"242 3 @881250949"]);
    assert_eq!(whole(&read_text("ml", text, &defaults()).unwrap()), ["196 \"242 3 @881250949"]);
}

#[test]
fn movielens_100k_and_1m() {
    assert_eq!(
        whole(&read_text("u.data", "196\t242\t3\t881250949\n", &defaults()).unwrap()),
        ["196 242 3 @881250949"]
    );
    let text = "1::1193::5::978300760\n1::661::3.5::978302109\n";
    for name in ["ratings.dat", "something"] {
        let data = read_text(name, text, &defaults()).unwrap();
        assert_eq!(whole(&data), ["1 1193 5 @978300760", "1 661 3.5 @978302109"]);
    }
}

#[test]
fn adjacency_lists_keep_users_without_items() {
    let data = read_text("train.txt", "0 2 1\n2\n1 0 \n", &defaults()).unwrap();
    assert_eq!(whole(&data), ["0 2", "0 1", "1 0"]);
    assert_eq!(data.users.iter().collect::<Vec<_>>(), ["0", "1", "2"]);
}

#[test]
fn adjacency_lists_in_a_folder_are_given_parts_with_or_without_id_lists() {
    let folder = Folder::new();
    folder.file("train.txt", "0 1 2\n1 0\n");
    folder.file("test.txt", "0 0\n1\n");
    let data = read(folder.path(), &defaults()).unwrap();
    assert_eq!(given(&data), parts(&["0 1", "0 2", "1 0"], &[], &["0 0"]));
    folder.file("user_list.txt", "org_id remap_id\nann 0\nbob 1\ncid 2\n");
    folder.file("item_list.txt", "org_id remap_id freebase_id\nx 0 f\ny 1 g\nz 2 h\n");
    let data = read(folder.path(), &defaults()).unwrap();
    assert_eq!(given(&data), parts(&["ann y", "ann z", "bob x"], &[], &["ann x"]));
    assert_eq!(data.users.len(), 3);
}

#[test]
fn a_benchmark_without_lists_keeps_its_numbers() {
    let folder = Folder::new();
    folder.file("train.tsv", "i_id u_id\n7 0\n9 1\n");
    folder.file("test.tsv", "0\t9\n");
    let data = read(folder.path(), &defaults()).unwrap();
    assert_eq!(given(&data), parts(&["0 7", "1 9"], &[], &["0 9"]));
}

#[test]
fn a_format_requested_by_name_is_used() {
    let requested = |name: &str| ReadOptions { format: Some(name.to_owned()), ..defaults() };
    assert_eq!(
        whole(&read_text("a", "0 1 2 3 4\n", &requested("lightgcn")).unwrap()),
        ["0 1", "0 2", "0 3", "0 4"]
    );
    assert_eq!(whole(&read_text("a", "0 1 2 3 4\n", &requested("csv")).unwrap()), ["0 1 2 @3"]);
}

#[test]
fn formats_have_unique_names_and_descriptions() {
    for (n, format) in FORMATS.iter().enumerate() {
        assert!(!format.summary.is_empty() && !format.recognised_by.is_empty());
        assert!(FORMATS[..n].iter().all(|other| other.name != format.name));
    }
}

pub(super) const BENCHMARK: [(&str, &str); 5] = [
    ("train.tsv", "user_procid\titem_procid\n0\t1\n1\t0\n"),
    ("test.tsv", "user\titem\n1\t2\n"),
    ("valid.tsv", "0 0\n"),
    ("user_list.tsv", "user_orgid\tuser_procid\nann b\t1\nbob\t0\n"),
    ("item_list.tsv", "item_orgid\titem_procid\nx\t0\ny\t1\nz\t2\n"),
];

pub(super) fn benchmark_parts() -> Parts<Vec<String>> {
    parts(&["bob y", "ann b x"], &["bob x"], &["ann b z"])
}

#[test]
fn a_benchmark_folder() {
    let folder = Folder::new();
    for (name, text) in BENCHMARK {
        folder.file(name, text);
    }
    folder.file("summary.txt", "Final dataset statistics");
    let data = read(folder.path(), &defaults()).unwrap();
    assert_eq!(given(&data), benchmark_parts());
    assert_eq!(data.users.dense("ann b"), Some(1));
}

#[test]
fn a_table_for_each_set_with_any_ids() {
    let sets = parts(&["ann tea", "bob x,1", "ann 7"], &["bob tea"], &["cy tea", "ann milk"]);
    let csv = [
        ("train.csv", "customer_id,item_id\nann,tea\nbob,\"x,1\"\nann,7\n"),
        ("valid.csv", "item_id,customer_id\ntea,bob\n"),
        ("test.csv", "customer_id,item_id\ncy,tea\nann,milk\n"),
    ];
    let tsv = [
        ("train.tsv", "user\titem\nann\ttea\nbob\tx,1\nann\t7\n"),
        ("valid.tsv", "user\titem\nbob\ttea\n"),
        ("test.tsv", "user\titem\ncy\ttea\nann\tmilk\n"),
    ];
    for (files, user) in [(csv, Some("customer_id")), (tsv, None)] {
        let folder = Folder::new();
        for (name, text) in files {
            folder.file(name, text);
        }
        let options = ReadOptions { user: user.map(str::to_owned), ..defaults() };
        let data = read(folder.path(), &options).unwrap();
        assert_eq!(given(&data), sets);
        assert_eq!(data.reading.unwrap().format, "train-test");
    }
    // Integers are ids of the benchmark format as before, unless it is told otherwise.
    let folder = Folder::new();
    for name in ["train.tsv", "test.tsv"] {
        folder.file(name, "user\titem\n0\t1\n");
    }
    assert_eq!(read(folder.path(), &defaults()).unwrap().reading.unwrap().format, "benchmark");
    folder.file("test.tsv", "user\titem\n0\tx\n");
    let options = ReadOptions { format: Some("train-test".to_owned()), ..defaults() };
    assert_eq!(given(&read(folder.path(), &options).unwrap()), parts(&["0 1"], &[], &["0 x"]));
    // A header in one file alone is no id.
    let folder = Folder::new();
    folder.file("train.csv", "ann,tea\nbob,tea\n");
    folder.file("test.csv", "user,item\nann,tea\n");
    let error = error_at(&folder, folder.path(), &defaults());
    assert!(error.contains("test.csv: it has a header, but the training set has no header"), "{error}");
}
