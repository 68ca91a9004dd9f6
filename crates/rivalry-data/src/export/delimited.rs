//! CSV and TSV: a header and one line per row, quoted where necessary.

use std::io;

use super::compress::Compressor;
use super::{Cell, Column, RowWriter};
use crate::files::OutputWriter;

struct Delimited(csv::Writer<Compressor>);

pub(super) fn start(sink: Compressor, delimiter: u8, columns: &[Column]) -> io::Result<Box<dyn RowWriter>> {
    let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(sink);
    writer.write_record(columns.iter().map(|column| &column.name)).map_err(cause)?;
    Ok(Box::new(Delimited(writer)))
}

/// The error below: whether a pipe was closed must not be lost.
fn cause(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

impl RowWriter for Delimited {
    fn row(&mut self, _: &[Column], cells: &[Cell<'_>]) -> io::Result<()> {
        for cell in cells {
            match cell {
                Cell::Text(text) => self.0.write_field(text),
                Cell::UInt32(n) => self.0.write_field(n.to_string()),
                Cell::Float32(x) => self.0.write_field(x.to_string()),
                Cell::Float64(x) => self.0.write_field(x.to_string()),
                Cell::Vector(xs) => self.0.write_field(serde_json::to_string(xs)?),
            }
            .map_err(cause)?;
        }
        self.0.write_record(None::<&[u8]>).map_err(cause)
    }

    fn finish(self: Box<Self>) -> io::Result<OutputWriter> {
        self.0.into_inner().map_err(|e| io::Error::new(e.error().kind(), e.error().to_string()))?.finish()
    }
}
