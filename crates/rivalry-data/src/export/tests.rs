//! Every format, read back.

use std::io::Read;
use std::path::Path;

use super::*;
use crate::RawParts;
use crate::read::{ReadOptions, read};

/// A table of this many users with two items each, written to a file of this name; the ids need quotes.
fn written(folder: &Path, name: &str, users: usize) -> Vec<u8> {
    let path = folder.join(name);
    let output = Output::new(&path, false).unwrap();
    let ids: IdMap = (0..users).map(|n| (n * 7).to_string()).collect();
    let columns = vec![
        Column::of_ids("user", &ids),
        Column::new("rank", ColumnType::UInt32),
        Column::new("item", ColumnType::Text),
        Column::new("score", ColumnType::Float32),
        Column::new("NDCG@20", ColumnType::Float64),
    ];
    assert_eq!(columns[0].kind, ColumnType::Int64);
    let format = TableFormat::of_output(&output, None).unwrap();
    let mut table = TableWriter::create(&output, format, columns).unwrap();
    for user in ids.iter() {
        for (rank, item) in [(1, "tea, \"green\""), (2, "tab\tnew\nline")] {
            let (score, value) = (0.1 / rank as f32, 0.1 / f64::from(rank));
            let cells = [
                Cell::Text(user),
                Cell::UInt32(rank),
                Cell::Text(item),
                Cell::Float32(score),
                Cell::Float64(value),
            ];
            table.row(&cells).unwrap();
        }
    }
    assert!(!path.exists(), "it appears when it is complete");
    table.finish().unwrap();
    std::fs::read(path).unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn text_formats_have_a_header_or_names_and_quote_what_needs_it() {
    let folder = tempfile::tempdir().unwrap();
    let csv = text(&written(folder.path(), "a.csv", 2));
    let first = "user,rank,item,score,NDCG@20\n0,1,\"tea, \"\"green\"\"\",0.1,0.1\n0,2,\"tab\tnew\nline\",0.05,0.05\n";
    assert!(csv.starts_with(first) && csv.ends_with("7,2,\"tab\tnew\nline\",0.05,0.05\n"), "{csv}");
    let tsv = text(&written(folder.path(), "a.TSV", 1));
    assert!(tsv.starts_with("user\trank\titem\tscore\tNDCG@20\n0\t1\t\"tea, "), "{tsv}");
    for name in ["a.jsonl", "a.ndjson"] {
        let lines = text(&written(folder.path(), name, 2));
        let rows: Vec<serde_json::Value> =
            lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(rows.len(), 4);
        assert_eq!((&rows[2]["user"], &rows[3]["item"]), (&7.into(), &"tab\tnew\nline".into()));
        assert!(lines.contains("\"score\":0.1,\"NDCG@20\":0.1}"), "{lines}");
    }
    for (users, name) in [(0, "none.json"), (2, "two.json")] {
        let array: Vec<serde_json::Value> =
            serde_json::from_slice(&written(folder.path(), name, users)).unwrap();
        assert_eq!(array.len(), 2 * users);
    }
}

#[test]
fn a_second_extension_compresses() {
    let folder = tempfile::tempdir().unwrap();
    let plain = written(folder.path(), "a.csv", 50);
    let mut unpacked = Vec::new();
    let gzip = written(folder.path(), "a.csv.gz", 50);
    flate2::read::GzDecoder::new(&gzip[..]).read_to_end(&mut unpacked).unwrap();
    assert!(gzip.len() < plain.len() && unpacked == plain);
    assert_eq!(zstd::decode_all(&written(folder.path(), "a.csv.zst", 50)[..]).unwrap(), plain);
    let lines = written(folder.path(), "a.jsonl", 50);
    assert_eq!(zstd::decode_all(&written(folder.path(), "b.jsonl.zst", 50)[..]).unwrap(), lines);
}

#[test]
fn parquet_has_typed_columns_and_several_row_groups() {
    use ::parquet::basic::Type;
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    let folder = tempfile::tempdir().unwrap();
    let users = 70_000; // more than one row group
    written(folder.path(), "a.parquet", users);
    let path = folder.path().join("a.parquet");
    let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
    let metadata = reader.metadata();
    assert_eq!((metadata.num_row_groups(), metadata.file_metadata().num_rows()), (2, 140_000));
    let schema = metadata.file_metadata().schema_descr();
    let types: Vec<Type> = schema.columns().iter().map(|column| column.physical_type()).collect();
    assert_eq!(types, [Type::INT64, Type::INT32, Type::BYTE_ARRAY, Type::FLOAT, Type::DOUBLE]);
    let options =
        ReadOptions { rating: Some("score".into()), time: Some("rank".into()), ..ReadOptions::default() };
    let data = read(&path, &options, crate::memory::MemoryLimit::default()).unwrap();
    let RawParts::Whole(records) = &data.parts else { panic!("one file") };
    assert_eq!((data.users.len(), data.items.len(), records.user.len()), (users, 2, 2 * users));
    assert_eq!((data.users.original(69_999), data.items.original(0)), ("489993", "tea, \"green\""));
    assert_eq!(records.rating.as_ref().unwrap()[139_999], 0.05);
    assert_eq!(records.time.as_ref().unwrap()[139_998..], [1, 2]);
}

#[test]
fn ids_are_numbers_only_if_all_of_them_are() {
    let kind = |ids: &[&str]| Column::of_ids("user", &ids.iter().collect()).kind;
    assert_eq!(kind(&["0", "-5", "120"]), ColumnType::Int64);
    for other in ["007", "-0", "+3", "1.5", "a", "", "99999999999999999999"] {
        assert_eq!(kind(&["0", other]), ColumnType::Text, "{other}");
    }
}

#[test]
fn names_without_a_format_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let format = |file: &str, name: Option<&str>| {
        TableFormat::of_output(&Output::new(&folder.path().join(file), false).unwrap(), name)
    };
    for (file, name, said) in [
        ("a.xlsx", None, "there are csv, tsv, jsonl"),
        ("csv", None, "can't tell the format"),
        ("a.gz", None, "can't tell the format"),
        ("a.parquet.gz", None, "compressed already"),
        ("a.parquet", Some("csv"), "not that of the format 'csv'"),
        ("a.csv", Some("cvs"), "unknown format 'cvs'"),
    ] {
        let error = format(file, name).unwrap_err();
        assert!(error.to_string().contains(said) && error.exit_code() == 2, "{error}");
    }
    assert_eq!(format("a.data", Some("csv")).unwrap(), TableFormat::CSV);
    let stream = Output::new(Path::new("-"), false).unwrap();
    assert_eq!(TableFormat::of_output(&stream, None).unwrap(), TableFormat::CSV);
    let gzip = TableFormat::of_output(&stream, Some("jsonl.gz")).unwrap();
    assert_eq!(gzip, format("a.jsonl.gz", None).unwrap());
}
