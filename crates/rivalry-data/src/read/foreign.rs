//! Files that are not read, recognised by their first bytes so that the error names them.

use std::path::Path;

use crate::InputError;

/// A kind of file that is not read.
struct Kind {
    name: &'static str,
    /// Where its signature is.
    at: usize,
    signature: &'static [u8],
    help: &'static str,
}

const TAR: &str = "extract it first: tar -xf FILE";
const DECOMPRESS: &str = "decompress it first";
const EXPORT: &str = "export the table of interactions as CSV or Parquet";

#[rustfmt::skip]
const KINDS: &[Kind] = &[
    Kind { name: "a tar archive", at: 257, signature: b"ustar", help: TAR },
    Kind { name: "a 7z archive", at: 0, signature: b"7z\xbc\xaf\x27\x1c", help: "extract it first: 7z x FILE" },
    Kind { name: "a RAR archive", at: 0, signature: b"Rar!\x1a\x07", help: "extract it first: unrar x FILE" },
    Kind { name: "an LZ4 file", at: 0, signature: b"\x04\x22\x4d\x18", help: "decompress it first: lz4 -d FILE" },
    Kind { name: "a compress (.Z) file", at: 0, signature: b"\x1f\x9d", help: DECOMPRESS },
    Kind { name: "an Arrow (Feather) file", at: 0, signature: b"ARROW1", help: EXPORT },
    Kind { name: "an ORC file", at: 0, signature: b"ORC\x0a", help: EXPORT },
    Kind { name: "an Avro file", at: 0, signature: b"Obj\x01", help: EXPORT },
    Kind { name: "an SQLite database", at: 0, signature: b"SQLite format 3\0", help: EXPORT },
    Kind { name: "an HDF5 file", at: 0, signature: b"\x89HDF\r\n\x1a\n", help: EXPORT },
    Kind { name: "a NumPy array", at: 0, signature: b"\x93NUMPY", help: EXPORT },
    Kind { name: "a PDF document", at: 0, signature: b"%PDF-", help: EXPORT },
    Kind { name: "an Excel workbook", at: 0, signature: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", help: EXPORT },
];

/// Refuses a file whose first bytes are those of something that is not read.
pub(super) fn refuse(name: &Path, bytes: &[u8]) -> Result<(), InputError> {
    let is = |kind: &&Kind| bytes.get(kind.at..).is_some_and(|rest| rest.starts_with(kind.signature));
    match KINDS.iter().find(is) {
        None => Ok(()),
        Some(kind) => Err(InputError::new(format!("this is {}, which is not read", kind.name))
            .file(name)
            .help(kind.help)),
    }
}

/// Refuses a zip file that holds an office document rather than data.
pub(super) fn refuse_workbook(
    name: &Path,
    files: impl IntoIterator<Item = impl AsRef<str>>,
) -> Result<(), InputError> {
    if files.into_iter().any(|file| file.as_ref() == "[Content_Types].xml") {
        return Err(InputError::new("this is an Excel workbook, which is not read").file(name).help(EXPORT));
    }
    Ok(())
}
