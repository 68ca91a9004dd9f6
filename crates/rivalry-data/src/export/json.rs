//! JSON: one object per row, on a line of its own, with or without an array around them.

use std::io::{self, Write};

use super::compress::Compressor;
use super::{Cell, Column, ColumnType, RowWriter};
use crate::files::OutputWriter;

struct Json {
    sink: Compressor,
    array: bool,
    rows: usize,
}

/// One object per line.
pub(super) fn lines(sink: Compressor) -> Box<dyn RowWriter> {
    Box::new(Json { sink, array: false, rows: 0 })
}

/// One array of objects.
pub(super) fn array(sink: Compressor) -> Box<dyn RowWriter> {
    Box::new(Json { sink, array: true, rows: 0 })
}

impl RowWriter for Json {
    fn row(&mut self, columns: &[Column], cells: &[Cell<'_>]) -> io::Result<()> {
        let Self { sink, array, rows } = self;
        sink.write_all(match (&array, &rows) {
            (true, 0) => b"[\n",
            (true, _) => b",\n",
            (false, _) => b"",
        })?;
        for (n, (column, cell)) in columns.iter().zip(cells).enumerate() {
            sink.write_all(if n == 0 { b"{" } else { b"," })?;
            serde_json::to_writer(&mut *sink, &column.name)?;
            sink.write_all(b":")?;
            match *cell {
                Cell::Text(number) if column.kind == ColumnType::Int64 => {
                    sink.write_all(number.as_bytes())?;
                }
                Cell::Text(text) => serde_json::to_writer(&mut *sink, text)?,
                Cell::UInt32(n) => serde_json::to_writer(&mut *sink, &n)?,
                Cell::Float32(x) => serde_json::to_writer(&mut *sink, &x)?,
                Cell::Float64(x) => serde_json::to_writer(&mut *sink, &x)?,
                Cell::Vector(xs) => serde_json::to_writer(&mut *sink, xs)?,
            }
        }
        self.rows += 1;
        self.sink.write_all(if self.array { b"}" } else { b"}\n" })
    }

    fn finish(mut self: Box<Self>) -> io::Result<OutputWriter> {
        self.sink.write_all(match (self.array, self.rows) {
            (true, 0) => b"[]\n",
            (true, _) => b"\n]\n",
            (false, _) => b"",
        })?;
        self.sink.finish()
    }
}
