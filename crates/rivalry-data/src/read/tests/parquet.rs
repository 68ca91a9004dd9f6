//! Parquet files, written with the same library.

use std::sync::Arc;

use ::parquet::column::writer::ColumnWriter;
use ::parquet::data_type::ByteArray;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::parser::parse_message_type;

use super::*;

enum Cells<'a> {
    Int(&'a [i64]),
    Narrow(&'a [i32]),
    Real(&'a [f64]),
    Text(&'a [Option<&'a str>]),
}

/// A file with one row group for each element of `groups`.
fn parquet(schema: &str, groups: &[&[Cells<'_>]]) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(&format!("message log {{ {schema} }}")).unwrap());
    let properties = Arc::new(WriterProperties::builder().build());
    let mut file = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
    for group in groups {
        let mut writer = file.next_row_group().unwrap();
        for cells in *group {
            let mut column = writer.next_column().unwrap().unwrap();
            let written = match (column.untyped(), cells) {
                (ColumnWriter::Int64ColumnWriter(w), Cells::Int(v)) => w.write_batch(v, None, None),
                (ColumnWriter::Int32ColumnWriter(w), Cells::Narrow(v)) => w.write_batch(v, None, None),
                (ColumnWriter::DoubleColumnWriter(w), Cells::Real(v)) => w.write_batch(v, None, None),
                (ColumnWriter::ByteArrayColumnWriter(w), Cells::Text(v)) => {
                    let levels: Vec<i16> = v.iter().map(|cell| i16::from(cell.is_some())).collect();
                    let values: Vec<ByteArray> =
                        v.iter().flatten().map(|text| ByteArray::from(*text)).collect();
                    w.write_batch(&values, Some(&levels), None)
                }
                _ => panic!("cells don't match the schema"),
            };
            written.unwrap();
            column.close().unwrap();
        }
        writer.close().unwrap();
    }
    file.into_inner().unwrap()
}

const SCHEMA: &str = "optional binary item_id (UTF8); required int64 user_id; required double rating; \
                      required int32 ts; required int64 weight (UINT_64);";

pub(super) fn sample() -> Vec<u8> {
    let first = [
        Cells::Text(&[Some("tea"), Some(" milk ")]),
        Cells::Int(&[-7, 1 << 40]),
        Cells::Real(&[4.5, 1.0]),
        Cells::Narrow(&[10, 20]),
        Cells::Int(&[-1, 0]),
    ];
    let second = [
        Cells::Text(&[Some("tea")]),
        Cells::Int(&[-7]),
        Cells::Real(&[2.0]),
        Cells::Narrow(&[30]),
        Cells::Int(&[5]),
    ];
    parquet(SCHEMA, &[&first, &second])
}

#[test]
fn columns_of_numbers_and_text_over_several_row_groups() {
    let data = read_text("log.parquet", sample(), &defaults()).unwrap();
    assert_eq!(whole(&data), ["-7 tea 4.5 @10", "1099511627776 milk 1 @20", "-7 tea 2 @30"]);
    let by_number =
        ReadOptions { user: Some("5".into()), item: Some("3".into()), time: Some("".into()), ..defaults() };
    let data = read_text("without-extension", sample(), &by_number).unwrap();
    assert_eq!(whole(&data), ["18446744073709551615 4.5", "0 1", "5 2"]);
}

#[test]
fn a_null_is_reported_with_its_row_and_column() {
    let cells = [Cells::Text(&[Some("a"), None]), Cells::Int(&[1, 2])];
    let bytes = parquet("optional binary user (UTF8); required int64 item;", &[&cells]);
    assert!(
        error_of("a.parquet", bytes, &defaults()).starts_with("a.parquet:2: user: there is no value (null)")
    );
}

#[test]
fn bad_rows_are_left_out_on_request() {
    let skip = ReadOptions { skip_bad_rows: true, ..defaults() };
    let cells = [Cells::Text(&[Some("a"), None, Some(" ")]), Cells::Int(&[1, 2, 3])];
    let bytes = parquet("optional binary user (UTF8); required int64 item;", &[&cells, &cells]);
    let data = read_text("a.parquet", bytes, &skip).unwrap();
    assert_eq!(whole(&data), ["a 1", "a 1"]);
    assert_eq!(data.items.iter().collect::<Vec<_>>(), ["1"], "a bad row adds no item");
    let skipped = data.reading.unwrap().skipped;
    assert_eq!(skipped.first.iter().map(|row| row.line).collect::<Vec<_>>(), [2, 3, 5, 6]);
}

#[test]
fn missing_columns_truncated_files_and_invalid_values() {
    let requested = ReadOptions { user: Some("usr_id".into()), ..defaults() };
    let error = error_of("a.parquet", sample(), &requested);
    assert!(
        error.starts_with("a.parquet: data.read.user: no column 'usr_id'") && error.contains("'user_id'"),
        "{error}"
    );
    let bytes = sample();
    for cut in [0, 3, 4, bytes.len() / 2, bytes.len() - 1] {
        let error = error_of("a.parquet", &bytes[..cut], &defaults());
        assert!(error.starts_with("a.parquet: broken Parquet file"), "{cut}: {error}");
    }
    let cells = [Cells::Int(&[1]), Cells::Int(&[2]), Cells::Real(&[f64::NAN])];
    let bytes = parquet("required int64 user; required int64 item; required double rating;", &[&cells]);
    let needed = ReadOptions { needs_ratings: true, ..defaults() };
    assert!(error_of("a.parquet", &bytes, &needed).starts_with("a.parquet:1: rating: 'NaN' is not a finite"));
    assert_eq!(whole(&read_text("a.parquet", bytes, &defaults()).unwrap()), ["1 2 NaN"]);
    let bytes = parquet("required int64 user; required int64 item;", &[]);
    assert!(error_of("a.parquet", bytes, &defaults()).starts_with("a.parquet: the file has no rows"));
}

#[test]
fn row_groups_side_by_side_give_what_rows_in_order_give() {
    let numbers: Vec<i64> = (0..700).map(|n| n * n % 97).collect();
    let large: Vec<i64> = numbers.iter().map(|n| n << 33 | 1).collect();
    let names: Vec<String> = numbers.iter().map(|n| format!("{n:>n$}", n = 1 + *n as usize % 40)).collect();
    let names: Vec<Option<&str>> = names.iter().map(|name| Some(name.trim_start())).collect();
    let ratings: Vec<f64> = numbers.iter().map(|&n| if n % 5 == 0 { f64::NAN } else { n as f64 }).collect();
    let group = |users| [Cells::Int(users), Cells::Text(&names), Cells::Real(&ratings)];
    let (small, large) = (group(&numbers), group(&large));
    let schema = "required int64 user; optional binary item (UTF8); required double rating;";
    let folder = Folder::new();
    for groups in [&[&small[..], &small][..], &[&small, &large, &small], &[&large]] {
        let path = folder.file("a.parquet", parquet(schema, groups));
        // Rows are looked at in order if bad ones are to be left out.
        let in_order = ReadOptions { skip_bad_rows: true, ..defaults() };
        let [fast, slow] = [&defaults(), &in_order].map(|options| format!("{:?}", read(&path, options)));
        assert_eq!(fast, slow);
        assert!(fast.starts_with("Ok"), "{fast}");
    }
}
