//! Every format, every wrapping: what is in the file comes out.

use super::super::FORMATS;
use super::*;

const RATINGS: &str = "userId,movieId,rating,timestamp\n1,31,2.5,1260759144\n7,31,4.0,851868750\n";
const RATINGS_READ: [&str; 2] = ["1 31 2.5 @1260759144", "7 31 4 @851868750"];

#[test]
fn csv_with_a_header_as_movielens_writes_it() {
    let data = read_text("ratings.csv", RATINGS, &usual()).unwrap();
    assert_eq!(whole(&data), RATINGS_READ);
    assert_eq!((data.users.len(), data.items.len(), data.users.dense("7")), (2, 1, Some(1)));
    assert!(data.notes.is_empty());
}

#[test]
fn csv_as_it_comes_byte_order_mark_carriage_returns_quotes_and_dates() {
    let text = "\u{feff}Item-ID;Stars;User ID;date\r\n\"a;1\";5; x y ;2024-05-01\r\n b ;1;\"z\";2024-05-01 00:01\r\n\r\n\r\n";
    let data = read_text("log.txt", text, &usual()).unwrap();
    assert_eq!(whole(&data), ["x y a;1 5 @1714521600", "z b 1 @1714521660"]);
}

#[test]
fn csv_without_a_header_stands_in_the_usual_order_and_says_so() {
    let data = read_text("log.csv", "alice,tea,4\nbob,tea,3", &usual()).unwrap();
    assert_eq!(whole(&data), ["alice tea 4", "bob tea 3"]);
    assert!(
        data.notes[0].ends_with("no header; read as column 1 (user), column 2 (item), column 3 (rating)")
    );
    let data = read_text("pairs", "3 5\n3 6\n", &usual()).unwrap();
    assert_eq!(whole(&data), ["3 5", "3 6"]);
}

#[test]
fn csv_takes_the_columns_and_the_delimiter_it_is_told() {
    let some = |text: &str| Some(text.to_owned());
    let numbered = ReadOptions { user: some("3"), item: some("1"), rating: some(""), ..usual() };
    assert_eq!(whole(&read_text("a.csv", "x,0,u,9\ny,0,v,9\n", &numbered).unwrap()), ["u x @9", "v y @9"]);
    let named = ReadOptions { user: some("who"), item: some("what"), ..usual() };
    assert_eq!(whole(&read_text("a.csv", "what,who\nx,u\n", &named).unwrap()), ["u x"]);
    let marked = ReadOptions { delimiter: Some('^'), header: Some(false), ..usual() };
    assert_eq!(whole(&read_text("a", "user^item\n1^2\n", &marked).unwrap()), ["user item", "1 2"]);
}

#[test]
fn recbole_atomic_files() {
    let text = "user_id:token\titem_id:token\trating:float\ttimestamp:float\n196\t\"242\t3\t881250949.0\n";
    assert_eq!(whole(&read_text("ml.inter", text, &usual()).unwrap()), ["196 \"242 3 @881250949"]);
    assert_eq!(whole(&read_text("ml", text, &usual()).unwrap()), ["196 \"242 3 @881250949"]);
}

#[test]
fn movielens_of_two_ages() {
    assert_eq!(
        whole(&read_text("u.data", "196\t242\t3\t881250949\n", &usual()).unwrap()),
        ["196 242 3 @881250949"]
    );
    let text = "1::1193::5::978300760\n1::661::3.5::978302109\n";
    for name in ["ratings.dat", "something"] {
        let data = read_text(name, text, &usual()).unwrap();
        assert_eq!(whole(&data), ["1 1193 5 @978300760", "1 661 3.5 @978302109"]);
    }
}

#[test]
fn adjacency_lists_keep_users_without_items() {
    let data = read_text("train.txt", "0 2 1\n2\n1 0 \n", &usual()).unwrap();
    assert_eq!(whole(&data), ["0 2", "0 1", "1 0"]);
    assert_eq!(data.users.iter().collect::<Vec<_>>(), ["0", "1", "2"]);
}

#[test]
fn adjacency_lists_in_a_folder_are_given_parts_with_or_without_lists() {
    let place = Place::new();
    place.file("train.txt", "0 1 2\n1 0\n");
    place.file("test.txt", "0 0\n1\n");
    let data = read(place.path(), &usual()).unwrap();
    assert_eq!(given(&data), [vec!["0 1", "0 2", "1 0"], vec![], vec!["0 0"]]);
    place.file("user_list.txt", "org_id remap_id\nann 0\nbob 1\ncid 2\n");
    place.file("item_list.txt", "org_id remap_id freebase_id\nx 0 f\ny 1 g\nz 2 h\n");
    let data = read(place.path(), &usual()).unwrap();
    assert_eq!(given(&data), [vec!["ann y", "ann z", "bob x"], vec![], vec!["ann x"]]);
    assert_eq!(data.users.len(), 3);
}

const BENCHMARK: [(&str, &str); 5] = [
    ("train.tsv", "user_procid\titem_procid\n0\t1\n1\t0\n"),
    ("test.tsv", "user\titem\n1\t2\n"),
    ("valid.tsv", "0 0\n"),
    ("user_list.tsv", "user_orgid\tuser_procid\nann b\t1\nbob\t0\n"),
    ("item_list.tsv", "item_orgid\titem_procid\nx\t0\ny\t1\nz\t2\n"),
];

#[test]
fn a_benchmark_in_a_folder_a_zip_or_a_folder_in_a_zip() {
    let place = Place::new();
    for (name, text) in BENCHMARK {
        place.file(&format!("set/{name}"), text);
    }
    place.file("set/summary.txt", "Final dataset statistics");
    let nested = BENCHMARK.map(|(name, text)| (format!("proc/{name}"), text));
    let mut nested: Vec<(&str, &str)> = nested.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    nested.push(("__MACOSX/proc/._train.tsv", "junk"));
    nested.push(("README", "about"));
    place.file("flat.zip", zipped(&BENCHMARK));
    place.file("nested.zip", zipped(&nested));
    for name in ["set", "flat.zip", "nested.zip"] {
        let data = read(&place.path().join(name), &usual()).unwrap();
        assert_eq!(given(&data), [vec!["bob y", "ann b x"], vec!["bob x"], vec!["ann b z"]], "{name}");
        assert_eq!(data.users.dense("ann b"), Some(1));
    }
}

#[test]
fn a_benchmark_without_lists_keeps_its_numbers() {
    let place = Place::new();
    place.file("train.tsv.gz", gzipped("i_id u_id\n7 0\n9 1\n"));
    place.file("test.tsv", "0\t9\n");
    let data = read(place.path(), &usual()).unwrap();
    assert_eq!(given(&data), [vec!["0 7", "1 9"], vec![], vec!["0 9"]]);
}

#[test]
fn wrappings_come_off_whatever_the_name() {
    let place = Place::new();
    let zst = zstd::encode_all(RATINGS.as_bytes(), 3).unwrap();
    let zip =
        zipped(&[("ml-latest/ratings.csv", RATINGS), ("ml-latest/movies.csv", "movieId,title\n31,Heat\n")]);
    for (name, bytes) in [
        ("a.csv.gz", gzipped(RATINGS)),
        ("b.csv.zst", zst.clone()),
        ("c", gzipped(RATINGS)),
        ("d.dat", zst),
        ("e.zip", zip),
        ("f", zipped(&[("anything", RATINGS)])),
    ] {
        assert_eq!(whole(&read(&place.file(name, bytes), &usual()).unwrap()), RATINGS_READ, "{name}");
    }
}

#[test]
fn a_format_asked_for_by_name_is_used() {
    let asked = |name: &str| ReadOptions { format: Some(name.to_owned()), ..usual() };
    assert_eq!(
        whole(&read_text("a", "0 1 2 3 4\n", &asked("lightgcn")).unwrap()),
        ["0 1", "0 2", "0 3", "0 4"]
    );
    assert_eq!(whole(&read_text("a", "0 1 2 3 4\n", &asked("csv")).unwrap()), ["0 1 2 @3"]);
}

#[test]
fn formats_have_different_names_and_say_what_they_are() {
    for (n, format) in FORMATS.iter().enumerate() {
        assert!(!format.summary.is_empty() && !format.recognised_by.is_empty());
        assert!(FORMATS[..n].iter().all(|other| other.name != format.name));
    }
}

/// Counts as the set's own summary states them.
#[test]
fn the_real_gowalla_if_it_is_there() {
    let Some(folder) = std::env::var_os("RIVALRY_DATA") else { return };
    let data = read(&Path::new(&folder).join("gowalla.zip"), &usual()).unwrap();
    let [train, _, test] = given(&data);
    assert_eq!(
        [data.users.len(), data.items.len(), train.len(), test.len()],
        [29858, 40988, 810_128, 217_336]
    );
    assert_eq!((data.users.original(1), data.items.original(2), train[0].as_str()), ("2", "8947", "0 8938"));
}
