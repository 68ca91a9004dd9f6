//! Parquet: typed columns, in row groups that are written when they are full.

use std::io;
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical};
use parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::{Cell, Column, ColumnType, RowWriter, integer};
use crate::files::OutputWriter;

/// The rows of a row group, which is what is held in memory.
const ROWS: usize = 1 << 17;

struct Parquet {
    file: SerializedFileWriter<OutputWriter>,
    columns: Vec<Values>,
    rows: usize,
}

/// The cells of a column in the current row group.
enum Values {
    Text(Vec<ByteArray>),
    Int64(Vec<i64>),
    UInt32(Vec<i32>),
    Float32(Vec<f32>),
    Float64(Vec<f64>),
    /// The numbers of all lists, and for each whether it continues a list.
    Vector(Vec<f32>, Vec<i16>),
}

pub(super) fn start(sink: OutputWriter, columns: &[Column]) -> io::Result<Box<dyn RowWriter>> {
    let fields: Result<Vec<_>, ParquetError> =
        columns.iter().map(|column| field(column).map(Arc::new)).collect();
    let schema = Type::group_type_builder("table").with_fields(fields?).build()?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let file = SerializedFileWriter::new(sink, Arc::new(schema), Arc::new(properties))?;
    let columns = columns.iter().map(|column| Values::new(column.kind)).collect();
    Ok(Box::new(Parquet { file, columns, rows: 0 }))
}

fn field(column: &Column) -> Result<Type, ParquetError> {
    if column.kind == ColumnType::Vector {
        return list(&column.name);
    }
    let (physical, converted) = match column.kind {
        ColumnType::Text => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
        ColumnType::Int64 => (Physical::INT64, ConvertedType::NONE),
        ColumnType::UInt32 => (Physical::INT32, ConvertedType::UINT_32),
        ColumnType::Float32 => (Physical::FLOAT, ConvertedType::NONE),
        ColumnType::Float64 => (Physical::DOUBLE, ConvertedType::NONE),
        ColumnType::Vector => return Err(ParquetError::General("a list is no primitive type".into())),
    };
    let field = Type::primitive_type_builder(&column.name, physical);
    field.with_repetition(Repetition::REQUIRED).with_converted_type(converted).build()
}

/// A list of numbers, in the three levels that the format prescribes.
fn list(name: &str) -> Result<Type, ParquetError> {
    let element = Type::primitive_type_builder("element", Physical::FLOAT);
    let element = element.with_repetition(Repetition::REQUIRED).build()?;
    let list = Type::group_type_builder("list").with_repetition(Repetition::REPEATED);
    let list = list.with_fields(vec![Arc::new(element)]).build()?;
    let field = Type::group_type_builder(name).with_repetition(Repetition::REQUIRED);
    field.with_converted_type(ConvertedType::LIST).with_fields(vec![Arc::new(list)]).build()
}

impl Values {
    fn new(kind: ColumnType) -> Self {
        match kind {
            ColumnType::Text => Self::Text(Vec::new()),
            ColumnType::Int64 => Self::Int64(Vec::new()),
            ColumnType::UInt32 => Self::UInt32(Vec::new()),
            ColumnType::Float32 => Self::Float32(Vec::new()),
            ColumnType::Float64 => Self::Float64(Vec::new()),
            ColumnType::Vector => Self::Vector(Vec::new(), Vec::new()),
        }
    }

    fn push(&mut self, cell: &Cell<'_>) -> io::Result<()> {
        match (self, *cell) {
            (Self::Text(values), Cell::Text(text)) => values.push(text.into()),
            (Self::Int64(values), Cell::Text(text)) => {
                values.push(integer(text).ok_or_else(|| io::Error::other(format!("'{text}' is no number")))?);
            }
            // The same 32 bits: the column is declared to be without sign.
            (Self::UInt32(values), Cell::UInt32(n)) => values.push(n.cast_signed()),
            (Self::Float32(values), Cell::Float32(x)) => values.push(x),
            (Self::Float64(values), Cell::Float64(x)) => values.push(x),
            (Self::Vector(values, continues), Cell::Vector(xs)) if !xs.is_empty() => {
                values.extend_from_slice(xs);
                continues.extend((0..xs.len()).map(|place| i16::from(place > 0)));
            }
            _ => return Err(io::Error::other("a cell of another type than its column")),
        }
        Ok(())
    }
}

impl Parquet {
    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.file.next_row_group()?;
        for values in &mut self.columns {
            let Some(mut column) = group.next_column()? else { break };
            match (column.untyped(), values) {
                (ColumnWriter::ByteArrayColumnWriter(writer), Values::Text(values)) => drain(writer, values)?,
                (ColumnWriter::Int64ColumnWriter(writer), Values::Int64(values)) => drain(writer, values)?,
                (ColumnWriter::Int32ColumnWriter(writer), Values::UInt32(values)) => drain(writer, values)?,
                (ColumnWriter::FloatColumnWriter(writer), Values::Float32(values)) => drain(writer, values)?,
                (ColumnWriter::DoubleColumnWriter(writer), Values::Float64(values)) => drain(writer, values)?,
                (ColumnWriter::FloatColumnWriter(writer), Values::Vector(values, continues)) => {
                    writer.write_batch(values, Some(&vec![1; values.len()]), Some(continues))?;
                    values.clear();
                    continues.clear();
                }
                _ => return Err(ParquetError::General("a column of another type than the schema's".into())),
            }
            column.close()?;
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }
}

/// Writes the cells of a column and makes room for those of the next row group.
fn drain<T: DataType>(
    writer: &mut ColumnWriterImpl<'_, T>,
    values: &mut Vec<T::T>,
) -> Result<(), ParquetError> {
    writer.write_batch(values, None, None)?;
    values.clear();
    Ok(())
}

impl RowWriter for Parquet {
    fn row(&mut self, _: &[Column], cells: &[Cell<'_>]) -> io::Result<()> {
        self.columns.iter_mut().zip(cells).try_for_each(|(values, cell)| values.push(cell))?;
        self.rows += 1;
        if self.rows == ROWS {
            self.write_group()?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<OutputWriter> {
        if self.rows > 0 {
            self.write_group()?;
        }
        Ok(self.file.into_inner()?)
    }
}
