//! One Parquet file: rows in, a finished file out.

use super::cell::{Column, ColumnBuffer, ColumnKind, Names, Outcome, Text};
use super::error::RecordError;
use super::provenance::Provenance;
use super::row::Row;
use super::written::partial;
use parquet::basic::{Compression, ConvertedType, Encoding, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};
use serde_json::{Map, json};
use std::fs::File;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// [`Names`] in the writer's form: cloning one of these shares its bytes.
struct Texts {
    links: Vec<ByteArray>,
    groups: Vec<ByteArray>,
    flows: Vec<ByteArray>,
    outcomes: [ByteArray; 3],
}

impl Texts {
    fn new(names: &Names) -> Self {
        let all = |names: &[String]| names.iter().map(|n| ByteArray::from(n.as_str())).collect();
        Self {
            links: all(&names.links),
            groups: all(&names.groups),
            flows: all(&names.flows),
            outcomes: Outcome::NAMES.map(ByteArray::from),
        }
    }

    fn get(&self, text: Text) -> ByteArray {
        let (list, at) = match text {
            Text::Link(at) => (&self.links[..], at),
            Text::Group(at) => (&self.groups[..], at),
            Text::Flow(at) => (&self.flows[..], at),
            Text::Outcome(at) => (&self.outcomes[..], at),
        };
        list[at as usize].clone()
    }
}

/// A table's file while it is being written, under a temporary name. Dropping it unfinished
/// removes it.
pub(super) struct TableFile<R: Row> {
    path: PathBuf,
    partial: PathBuf,
    writer: Option<SerializedFileWriter<File>>,
    texts: Texts,
    buffer: ColumnBuffer,
    rows: u64,
    row: PhantomData<R>,
}

impl<R: Row> TableFile<R> {
    /// Begins the file of table `R` in `directory`.
    pub(super) fn create(
        directory: &Path,
        names: &Names,
        run: Option<&Provenance>,
    ) -> std::result::Result<Self, RecordError> {
        let path = directory.join(format!("{}.parquet", R::NAME));
        let partial = partial(&path);
        let writer =
            File::create(&partial).map_err(|e| RecordError::new(&path, e)).and_then(|file| {
                let schema = Arc::new(schema::<R>().map_err(|e| problem(&path, e))?);
                SerializedFileWriter::new(file, schema, Arc::new(properties::<R>(run)))
                    .map_err(|e| problem(&path, e))
            })?;
        Ok(Self {
            path,
            partial,
            writer: Some(writer),
            texts: Texts::new(names),
            buffer: ColumnBuffer::default(),
            rows: 0,
            row: PhantomData,
        })
    }

    /// Writes `batches` as one row group.
    pub(super) fn write(&mut self, batches: &[Vec<R>]) -> std::result::Result<(), RecordError> {
        self.rows += batches.iter().map(|rows| rows.len() as u64).sum::<u64>();
        self.write_group(batches).map_err(|e| problem(&self.path, e))
    }

    fn write_group(&mut self, batches: &[Vec<R>]) -> Result<()> {
        let writer = self.writer.as_mut().expect("only finish takes the writer");
        let mut group = writer.next_row_group()?;
        for column in R::COLUMNS {
            let mut chunk = group.next_column()?.expect("the schema has all columns");
            for rows in batches {
                let buffer = &mut self.buffer;
                buffer.clear();
                (column.fill)(rows, buffer);
                let present = column.optional.then_some(buffer.present.as_slice());
                match column.kind {
                    ColumnKind::Float => {
                        chunk.typed::<DoubleType>().write_batch(&buffer.floats, present, None)?
                    }
                    ColumnKind::Integer => {
                        chunk.typed::<Int64Type>().write_batch(&buffer.integers, present, None)?
                    }
                    ColumnKind::Text => {
                        let texts = buffer.texts.iter().map(|text| self.texts.get(*text));
                        let texts: Vec<_> = texts.collect();
                        chunk.typed::<ByteArrayType>().write_batch(&texts, present, None)?
                    }
                };
            }
            chunk.close()?;
        }
        group.close()?;
        Ok(())
    }

    /// Completes the file and gives it its name. Returns its path and its number of rows.
    pub(super) fn finish(mut self) -> std::result::Result<(PathBuf, u64), RecordError> {
        let writer = self.writer.take().expect("finish is called once");
        writer.close().map_err(|e| problem(&self.path, e))?;
        std::fs::rename(&self.partial, &self.path).map_err(|e| RecordError::new(&self.path, e))?;
        Ok((self.path.clone(), self.rows))
    }
}

impl<R: Row> Drop for TableFile<R> {
    fn drop(&mut self) {
        // After a rename there is nothing under this name.
        let _ = std::fs::remove_file(&self.partial);
    }
}

fn problem(path: &Path, error: ParquetError) -> RecordError {
    match error {
        ParquetError::External(cause) => RecordError::new(path, cause),
        other => RecordError::new(path, other),
    }
}

fn schema<R: Row>() -> Result<Type> {
    let column = |c: &Column<R>| {
        let (physical, converted) = match c.kind {
            ColumnKind::Float => (Physical::DOUBLE, ConvertedType::NONE),
            ColumnKind::Integer => (Physical::INT64, ConvertedType::NONE),
            ColumnKind::Text => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
        };
        let repetition = if c.optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        Type::primitive_type_builder(c.name, physical)
            .with_converted_type(converted)
            .with_repetition(repetition)
            .build()
            .map(Arc::new)
    };
    let fields = R::COLUMNS.iter().map(column).collect::<Result<_>>()?;
    Type::group_type_builder(R::NAME).with_fields(fields).build()
}

/// Names and outcomes are few: a dictionary. Numbers rarely repeat: differences in as few bits as
/// they need for integers, plain for floats, and Snappy over all.
fn properties<R: Row>(run: Option<&Provenance>) -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_created_by("sojourn".to_owned())
        .set_key_value_metadata(Some(metadata::<R>(run)))
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true);
    for column in R::COLUMNS {
        let path = ColumnPath::from(column.name);
        properties = match column.kind {
            ColumnKind::Text => properties.set_column_dictionary_enabled(path, true),
            ColumnKind::Integer => {
                properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED)
            }
            ColumnKind::Float => properties.set_column_encoding(path, Encoding::PLAIN),
        };
    }
    properties.build()
}

/// The metadata of the file of table `R`. The same run has the same, so there is no date in it.
fn metadata<R: Row>(run: Option<&Provenance>) -> Vec<KeyValue> {
    let pair = |key: &str, value: String| KeyValue::new(format!("sojourn.{key}"), value);
    let columns: Map<_, _> = R::COLUMNS
        .iter()
        .map(|column| {
            let about = json!({ "unit": column.unit, "meaning": column.about });
            (column.name.to_string(), about)
        })
        .collect();
    let mut pairs = vec![
        pair("version", env!("CARGO_PKG_VERSION").into()),
        pair("columns", json!(columns).to_string()),
    ];
    if let Some(run) = run {
        pairs.push(pair("engine", run.engine.clone()));
        pairs.push(pair("seed", run.seed.to_string()));
        pairs.push(pair("scenario", run.scenario.clone()));
    }
    pairs
}
