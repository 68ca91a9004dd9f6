//! Parquet files and folders of them.

use std::sync::Arc;

use ::parquet::column::writer::ColumnWriter;
use ::parquet::data_type::ByteArray;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::parser::parse_message_type;

use super::*;

/// A file with these rows, some in each row group. Users are numbers if they are in `ids`, items are text.
fn file(rows: &[Row], ids: Ids, group: usize) -> Vec<u8> {
    let user = if let Ids::Numbers = ids { "required int64 user" } else { "required binary user (UTF8)" };
    let schema = format!(
        "message log {{ {user}; required binary item (UTF8); optional double rating; required int64 time; }}"
    );
    let properties = Arc::new(WriterProperties::builder().build());
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let mut file = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
    for rows in rows.chunks(group) {
        let mut writer = file.next_row_group().unwrap();
        let text = |of: &dyn Fn(&Row) -> u32, ids: Ids| -> Vec<ByteArray> {
            rows.iter().map(|row| ByteArray::from(ids.write(of(row), 0).as_str())).collect()
        };
        for column in 0..4 {
            let mut cells = writer.next_column().unwrap().unwrap();
            let written = match (cells.untyped(), column) {
                (ColumnWriter::Int64ColumnWriter(w), 0) => {
                    w.write_batch(&rows.iter().map(|row| row.user.into()).collect::<Vec<_>>(), None, None)
                }
                (ColumnWriter::Int64ColumnWriter(w), _) => {
                    w.write_batch(&rows.iter().map(|row| row.time).collect::<Vec<_>>(), None, None)
                }
                (ColumnWriter::DoubleColumnWriter(w), _) => {
                    let given: Vec<&Row> = rows.iter().filter(|row| row.rating > 1).collect();
                    let levels: Vec<i16> = rows.iter().map(|row| i16::from(row.rating > 1)).collect();
                    let ratings: Vec<f64> = given.iter().map(|row| row.rating.into()).collect();
                    w.write_batch(&ratings, Some(&levels), None)
                }
                (ColumnWriter::ByteArrayColumnWriter(w), 0) => {
                    w.write_batch(&text(&|row| row.user, ids), None, None)
                }
                (ColumnWriter::ByteArrayColumnWriter(w), _) => {
                    w.write_batch(&text(&|row| row.item, Ids::Text), None, None)
                }
                _ => panic!("cells don't match the schema"),
            };
            written.unwrap();
            cells.close().unwrap();
        }
        writer.close().unwrap();
    }
    file.into_inner().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parquet(
        rows in log(),
        preparation in preparation(),
        ids in prop_oneof![Just(Ids::Numbers), Just(Ids::Text)],
        (size, group) in (1..80_usize, 1..40_usize),
        skip: bool,
    ) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("log.parquet");
        fs::write(&path, file(&rows, ids, group)).unwrap();
        // A missing rating is an error if there is a minimum.
        let read = ReadOptions { skip_bad_rows: skip, ..ReadOptions::default() };
        let config = DataConfig { read: read.clone(), ..config(&path, preparation.clone()) };
        let written = same(&folder, &config, &tiny());

        let parts = folder.path().join("log");
        fs::create_dir_all(parts.join("year=2026")).unwrap();
        for (n, some) in rows.chunks(size).enumerate() {
            fs::write(parts.join(format!("year=2026/data_{n:03}.parquet")), file(some, ids, group)).unwrap();
        }
        let in_parts = same(&folder, &DataConfig { read, ..super::config(&parts, preparation) }, &tiny());
        // Which file a row is in is said of rows that are left out.
        prop_assert_eq!(in_parts, written);
    }
}

#[test]
fn a_row_group_that_is_too_large_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("log.parquet");
    let rows: Vec<Row> = (0..100).map(|n| Row { user: n % 7, item: n, rating: 2, time: 0 }).collect();
    fs::write(&path, file(&rows, Ids::Numbers, 65)).unwrap();
    let error = streamed(&config(&path, Preparation::default()), &folder.path().join("out"), &tiny());
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("log.parquet: a row group has 65 rows, and there is memory for 64 at a time"),
        "{error}"
    );
}
