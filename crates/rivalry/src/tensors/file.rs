//! Files of tensors. They are written and read tensor by tensor: of a large one there is never a second copy.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use safetensors::tensor::{Dtype, Metadata, SafeTensors, TensorInfo, TensorView};

use super::{CHECKSUM, Data, Tensor, Tensors, broken, changed};
use crate::files::checksum::{ChecksumStatus, PLACEHOLDER, PiecewiseChecksum};
use crate::files::write_atomically;
use crate::memory::MemoryLimit;
use crate::{Error, InputError, Result};

/// The one entry of the file's metadata. It holds all texts as JSON: entries of the metadata have no order, so several of
/// them would make two files of the same content differ.
const TEXTS: &str = "rivalry";
/// The largest header that is read, as the safetensors library has it.
const MAX_HEADER: u64 = 100_000_000;
/// The length of the number that a file starts with: the length of the header.
const LENGTH: usize = 8;

impl Tensors {
    /// Writes a file, whole or not at all.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let (head, tensors) = self.head().map_err(|e| Error::io("write", path, io::Error::other(e)))?;
        write_atomically(path, |file| {
            file.write_all(&head)?;
            tensors.iter().try_for_each(|tensor| file.write_all(tensor.bytes()))
        })
    }

    /// The content of a file.
    ///
    /// # Errors
    /// If there are more tensors than a file can have.
    pub fn to_bytes(&self) -> Result<Vec<u8>, safetensors::SafeTensorError> {
        let (mut bytes, tensors) = self.head()?;
        tensors.iter().for_each(|tensor| bytes.extend_from_slice(tensor.bytes()));
        Ok(bytes)
    }

    /// What comes before the numbers, with the checksum of all; and the tensors in the order of their numbers.
    fn head(&self) -> Result<(Vec<u8>, Vec<&Tensor>), safetensors::SafeTensorError> {
        let mut texts = self.texts.clone();
        texts.insert(CHECKSUM.to_owned(), PLACEHOLDER.to_owned());
        let texts = serde_json::to_string(&texts).expect("texts are plain data");
        // Larger types first, so that all are aligned.
        let mut tensors: Vec<(&String, &Tensor)> = self.tensors.iter().collect();
        tensors.sort_by(|(a_name, a), (b_name, b)| b.dtype.cmp(&a.dtype).then(a_name.cmp(b_name)));
        let mut end = 0;
        let info = |(name, tensor): &(&String, &Tensor)| {
            let start = end;
            end += tensor.bytes().len();
            let Tensor { dtype, shape, .. } = tensor;
            let info = TensorInfo { dtype: *dtype, shape: shape.clone(), data_offsets: (start, end) };
            ((*name).clone(), info)
        };
        let infos = tensors.iter().map(info).collect();
        let metadata = Metadata::new(Some(HashMap::from([(TEXTS.to_owned(), texts)])), infos)?;
        let mut header = serde_json::to_string(&metadata).expect("metadata are plain data").into_bytes();
        header.resize(header.len().next_multiple_of(LENGTH), b' ');
        let mut head = [&(header.len() as u64).to_le_bytes()[..], &header].concat();
        let tensors: Vec<&Tensor> = tensors.into_iter().map(|(_, tensor)| tensor).collect();
        let mut checksum = PiecewiseChecksum::new(&head).expect("the head has a place for the checksum");
        tensors.iter().for_each(|tensor| checksum.update(tensor.bytes()));
        checksum.fill_in(&mut head);
        Ok((head, tensors))
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If there is no such file, or it is not a whole one.
    pub fn read(path: &Path) -> Result<Self> {
        let failed = |e| Error::io("read", path, e);
        let size = std::fs::metadata(path).map_err(failed)?.len();
        let require = |bytes: u64| {
            let required = MemoryLimit::default().require(bytes, "reading it");
            required.map_err(|refused| refused.file(path))
        };
        require(size)?;
        if let Some(tensors) =
            Self::read_by_pieces(&mut File::open(path).map_err(failed)?, size).map_err(failed)?
        {
            return Ok(tensors);
        }
        // A file of an earlier release, or a damaged one: a look at the whole says what is wrong.
        require(size.saturating_mul(2))?;
        let bytes = std::fs::read(path).map_err(failed)?;
        Ok(Self::parse(&bytes).map_err(|fault| fault.file(path))?)
    }

    /// Reads a file with a checksum; `None` if it has none, or is not as it was written.
    fn read_by_pieces(file: &mut File, size: u64) -> io::Result<Option<Self>> {
        let mut length = [0; LENGTH];
        if size < LENGTH as u64 {
            return Ok(None);
        }
        file.read_exact(&mut length)?;
        let header = u64::from_le_bytes(length);
        let Some(data) = (size - LENGTH as u64).checked_sub(header).filter(|_| header <= MAX_HEADER) else {
            return Ok(None);
        };
        let mut head = length.to_vec();
        head.resize(LENGTH + header as usize, 0);
        file.read_exact(&mut head[LENGTH..])?;
        let metadata = serde_json::from_slice::<Metadata>(&head[LENGTH..]);
        let (Ok(metadata), Some(mut checksum)) = (metadata, PiecewiseChecksum::new(&head)) else {
            return Ok(None);
        };
        if metadata.data_len() as u64 != data {
            return Ok(None);
        }
        let mut tensors = BTreeMap::new();
        for name in metadata.offset_keys() {
            let Some(TensorInfo { dtype, shape, data_offsets: (start, end) }) = metadata.info(&name) else {
                return Ok(None);
            };
            let tensor =
                Tensor { dtype: *dtype, shape: shape.clone(), data: read_data(file, *dtype, end - start)? };
            checksum.update(tensor.bytes());
            tensors.insert(name, tensor);
        }
        let whole = checksum.is_in(&head);
        Ok(whole.then(|| Self { tensors, texts: texts(metadata.metadata().as_ref()) }))
    }

    /// Reads the content of a file.
    ///
    /// # Errors
    /// If it is not a whole safetensors file, or has the checksum of other content.
    pub fn parse(bytes: &[u8]) -> Result<Self, InputError> {
        let checksum = ChecksumStatus::of(bytes);
        if checksum == ChecksumStatus::Invalid {
            return Err(changed());
        }
        let parsed = SafeTensors::read_metadata(bytes)
            .and_then(|(_, header)| Ok((SafeTensors::deserialize(bytes)?, header.metadata().clone())));
        let (tensors, metadata) =
            parsed.map_err(|e| broken(&format!("not a whole safetensors file ({e})")))?;
        // Another tool's file has none: the check of its format refuses it.
        let texts = texts(metadata.as_ref());
        if checksum == ChecksumStatus::Missing && texts.contains_key(CHECKSUM) {
            return Err(changed());
        }
        let owned = |view: TensorView<'_>| Tensor {
            dtype: view.dtype(),
            shape: view.shape().to_vec(),
            data: Data::Bytes(view.data().to_vec()),
        };
        let tensors = tensors.iter().map(|(name, view)| (name.to_owned(), owned(view))).collect();
        Ok(Self { tensors, texts })
    }
}

fn texts(metadata: Option<&HashMap<String, String>>) -> BTreeMap<String, String> {
    metadata.and_then(|metadata| serde_json::from_str(metadata.get(TEXTS)?).ok()).unwrap_or_default()
}

/// The numbers of a tensor. Single-precision ones may be shared with the model, so they are read as such.
fn read_data(file: &mut File, dtype: Dtype, bytes: usize) -> io::Result<Data> {
    if dtype == Dtype::F32 && bytes.is_multiple_of(size_of::<f32>()) {
        let mut floats = vec![0f32; bytes / size_of::<f32>()];
        file.read_exact(bytemuck::cast_slice_mut(&mut floats))?;
        return Ok(Data::Floats(Arc::new(floats)));
    }
    let mut data = vec![0; bytes];
    file.read_exact(&mut data)?;
    Ok(Data::Bytes(data))
}
