//! Named tables in one safetensors file, which other tools can open too.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use bytemuck::Pod;
use rivalry_kernels::Matrix;
use safetensors::tensor::{Dtype, SafeTensors, View};

use crate::data::{IdMap, Interactions};
use crate::files::write_atomically;
use crate::memory::MemoryLimit;
use crate::{Error, InputError, Result};

/// The one entry of the file's own metadata. It holds all texts: that metadata has no order, and would make two files
/// of the same content differ.
const TEXTS: &str = "rivalry";

/// Tables and texts on their way to a file, or back from one.
#[derive(Default)]
pub(super) struct Tensors {
    tables: BTreeMap<String, Tensor>,
    /// Short texts that go with the tables.
    pub texts: BTreeMap<String, String>,
}

struct Tensor {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl View for &Tensor {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }

    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

impl Tensors {
    fn put<T: Pod>(&mut self, name: &str, dtype: Dtype, shape: Vec<usize>, values: &[T]) {
        let bytes = bytemuck::cast_slice(values).to_vec();
        self.tables.insert(name.to_owned(), Tensor { dtype, shape, bytes });
    }

    pub fn put_matrix(&mut self, name: &str, table: &Matrix) {
        self.put(name, Dtype::F32, vec![table.rows(), table.cols()], &table.to_dense());
    }

    pub fn put_ids(&mut self, name: &str, ids: &IdMap) {
        let ends: Vec<u64> = ids
            .iter()
            .scan(0, |end, id| {
                *end += id.len() as u64;
                Some(*end)
            })
            .collect();
        let text: String = ids.iter().collect();
        self.put(&format!("{name}.text"), Dtype::U8, vec![text.len()], text.as_bytes());
        self.put(&format!("{name}.ends"), Dtype::U64, vec![ends.len()], &ends);
    }

    pub fn put_interactions(&mut self, name: &str, interactions: &Interactions) {
        let counts: Vec<u32> =
            (0..interactions.n_users() as u32).map(|u| interactions.items_of(u).len() as u32).collect();
        let items: Vec<u32> = interactions.pairs().map(|(_, item)| item).collect();
        self.put(&format!("{name}.counts"), Dtype::U32, vec![counts.len()], &counts);
        self.put(&format!("{name}.items"), Dtype::U32, vec![items.len()], &items);
    }

    pub fn write(&self, path: &Path) -> Result<()> {
        let bytes = self.to_bytes().map_err(|e| Error::io("write", path, std::io::Error::other(e)))?;
        write_atomically(path, |file| std::io::Write::write_all(file, &bytes))
    }

    /// What a file of them holds.
    pub fn to_bytes(&self) -> Result<Vec<u8>, safetensors::SafeTensorError> {
        let texts = serde_json::to_string(&self.texts).expect("texts are plain data");
        safetensors::serialize(&self.tables, Some(HashMap::from([(TEXTS.to_owned(), texts)])))
    }

    pub fn read(path: &Path) -> Result<Self> {
        let failed = |e| Error::io("read", path, e);
        // The file, and the tables taken out of it.
        let size = std::fs::metadata(path).map_err(failed)?.len();
        MemoryLimit::default()
            .require(size.saturating_mul(2), "reading it")
            .map_err(|refused| refused.file(path))?;
        let bytes = std::fs::read(path).map_err(failed)?;
        Self::parse(path, &bytes)
    }

    /// Reads what a file holds; `path` is what errors call it.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self> {
        let parsed = SafeTensors::read_metadata(bytes)
            .and_then(|(_, header)| Ok((SafeTensors::deserialize(bytes)?, header.metadata().clone())));
        let (tensors, metadata) =
            parsed.map_err(|e| broken(path, &format!("not a whole safetensors file ({e})")))?;
        // A file without them is someone else's; whoever asks for its format will say so.
        let texts = metadata.and_then(|metadata| serde_json::from_str(metadata.get(TEXTS)?).ok());
        let owned = |view: safetensors::tensor::TensorView<'_>| Tensor {
            dtype: view.dtype(),
            shape: view.shape().to_vec(),
            bytes: view.data().to_vec(),
        };
        let tables = tensors.iter().map(|(name, view)| (name.to_owned(), owned(view))).collect();
        Ok(Self { tables, texts: texts.unwrap_or_default() })
    }

    fn take<T: Pod>(&mut self, path: &Path, name: &str, dtype: Dtype) -> Result<(Vec<T>, Vec<usize>)> {
        let table = self.tables.remove(name).ok_or_else(|| broken(path, &format!("it holds no '{name}'")))?;
        if table.dtype != dtype {
            return Err(broken(path, &format!("'{name}' is of type {:?}, not {dtype:?}", table.dtype)).into());
        }
        Ok((bytemuck::allocation::pod_collect_to_vec(&table.bytes), table.shape))
    }

    pub fn take_matrix(&mut self, path: &Path, name: &str) -> Result<Matrix> {
        let (values, shape) = self.take::<f32>(path, name, Dtype::F32)?;
        if let Some(at) = values.iter().position(|x| !x.is_finite()) {
            return Err(broken(path, &format!("'{name}' has a number that is not finite, at {at}")).into());
        }
        match shape[..] {
            [rows, cols] if cols > 0 => Matrix::from_dense(rows, cols, &values),
            _ => None,
        }
        .ok_or_else(|| broken(path, &format!("'{name}' has the shape {shape:?}")).into())
    }

    pub fn take_ids(&mut self, path: &Path, name: &str) -> Result<IdMap> {
        let (text, _) = self.take::<u8>(path, &format!("{name}.text"), Dtype::U8)?;
        let (ends, _) = self.take::<u64>(path, &format!("{name}.ends"), Dtype::U64)?;
        let wrong = || broken(path, &format!("the ids in '{name}' don't add up"));
        let text = String::from_utf8(text).map_err(|_| wrong())?;
        let mut start = 0;
        let mut ids = Vec::with_capacity(ends.len());
        for end in ends {
            let end = usize::try_from(end).map_err(|_| wrong())?;
            ids.push(text.get(start..end).ok_or_else(wrong)?);
            start = end;
        }
        Ok(ids.into_iter().collect())
    }

    pub fn take_interactions(&mut self, path: &Path, name: &str, n_items: usize) -> Result<Interactions> {
        let (counts, _) = self.take::<u32>(path, &format!("{name}.counts"), Dtype::U32)?;
        let (items, _) = self.take::<u32>(path, &format!("{name}.items"), Dtype::U32)?;
        let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        if total != items.len() as u64 || items.iter().any(|&item| item as usize >= n_items) {
            return Err(broken(path, &format!("the interactions in '{name}' don't add up")).into());
        }
        let users = counts.iter().enumerate().flat_map(|(u, &n)| std::iter::repeat_n(u as u32, n as usize));
        Ok(Interactions::from_pairs(counts.len(), n_items, users.zip(items)))
    }
}

/// The error for a file that is damaged or was made by something else.
pub(super) fn broken(path: &Path, what: &str) -> InputError {
    InputError::new(format!("not a Rivalry file, or damaged: {what}"))
        .file(path)
        .help("give a run made by 'rivalry train', or train it again")
        .damage()
}
