//! A writer that compresses or doesn't.

use std::io::{self, Write};

use super::format::Compression;
use crate::files::OutputWriter;

pub(super) enum Compressor {
    None(OutputWriter),
    #[cfg(feature = "archives")]
    Gzip(flate2::write::GzEncoder<OutputWriter>),
    #[cfg(feature = "archives")]
    Zstandard(zstd::Encoder<'static, OutputWriter>),
}

impl Compressor {
    pub fn new(sink: OutputWriter, compression: Option<Compression>) -> io::Result<Self> {
        match compression {
            None => Ok(Self::None(sink)),
            #[cfg(feature = "archives")]
            Some(Compression::Gzip) => {
                Ok(Self::Gzip(flate2::write::GzEncoder::new(sink, flate2::Compression::default())))
            }
            #[cfg(feature = "archives")]
            Some(Compression::Zstandard) => {
                zstd::Encoder::new(sink, zstd::DEFAULT_COMPRESSION_LEVEL).map(Self::Zstandard)
            }
            #[cfg(not(feature = "archives"))]
            Some(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Writes what is left.
    pub fn finish(self) -> io::Result<OutputWriter> {
        match self {
            Self::None(sink) => Ok(sink),
            #[cfg(feature = "archives")]
            Self::Gzip(encoder) => encoder.finish(),
            #[cfg(feature = "archives")]
            Self::Zstandard(encoder) => encoder.finish(),
        }
    }
}

impl Write for Compressor {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::None(sink) => sink.write(bytes),
            #[cfg(feature = "archives")]
            Self::Gzip(encoder) => encoder.write(bytes),
            #[cfg(feature = "archives")]
            Self::Zstandard(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::None(sink) => sink.flush(),
            #[cfg(feature = "archives")]
            Self::Gzip(encoder) => encoder.flush(),
            #[cfg(feature = "archives")]
            Self::Zstandard(encoder) => encoder.flush(),
        }
    }
}
