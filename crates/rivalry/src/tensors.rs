//! Named tensors and short texts in one safetensors file, which other tools can open, too.

mod file;

use std::collections::BTreeMap;
use std::sync::Arc;

use bytemuck::Pod;
use rivalry_kernels::Matrix;
use safetensors::tensor::Dtype;

use crate::backbone::Embeddings;
use crate::data::{IdMap, Interactions};
use crate::files::checksum::damaged;
use crate::{InputError, Result};

/// The text with the checksum of the file. Texts are in the order of their names, and this comes before all others.
const CHECKSUM: &str = "checksum";
/// The first version of the model file and of the checkpoint with a checksum.
const FIRST_WITH_CHECKSUM: u32 = 3;

/// Named tensors, and short texts that go with them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tensors {
    tensors: BTreeMap<String, Tensor>,
    /// Short texts by name.
    pub texts: BTreeMap<String, String>,
}

#[derive(Clone, Debug)]
struct Tensor {
    dtype: Dtype,
    shape: Vec<usize>,
    data: Data,
}

/// The numbers of a tensor. Large ones are shared with the model that uses them.
#[derive(Clone, Debug)]
enum Data {
    Bytes(Vec<u8>),
    Floats(Arc<Vec<f32>>),
}

impl PartialEq for Tensor {
    fn eq(&self, other: &Self) -> bool {
        (self.dtype, &self.shape, self.bytes()) == (other.dtype, &other.shape, other.bytes())
    }
}

impl Tensor {
    fn bytes(&self) -> &[u8] {
        match &self.data {
            Data::Bytes(bytes) => bytes,
            Data::Floats(floats) => bytemuck::cast_slice(floats),
        }
    }

    /// How many numbers differ from those of a tensor of the same type and size, and by how much.
    fn difference(&self, other: &Self) -> String {
        let numbers = |tensor: &Self| bytemuck::allocation::pod_collect_to_vec::<u8, u32>(tensor.bytes());
        if self.dtype != Dtype::F32 {
            return "the content differs".to_owned();
        }
        let (then, now) = (numbers(self), numbers(other));
        let differing: Vec<f32> = then
            .iter()
            .zip(&now)
            .filter(|(a, b)| a != b)
            .map(|(&a, &b)| (f32::from_bits(a) - f32::from_bits(b)).abs())
            .collect();
        let largest = differing.iter().copied().fold(0.0, f32::max);
        format!("{} of {} numbers differ, by up to {largest:e}", differing.len(), then.len())
    }
}

/// A type of number that vectors are made of.
pub(crate) trait Number: Pod {
    /// Its name in a file.
    const DTYPE: Dtype;
}

impl Number for u32 {
    const DTYPE: Dtype = Dtype::U32;
}

impl Number for u64 {
    const DTYPE: Dtype = Dtype::U64;
}

impl Number for f32 {
    const DTYPE: Dtype = Dtype::F32;
}

impl Tensors {
    fn put<T: Pod>(&mut self, name: &str, dtype: Dtype, shape: Vec<usize>, values: &[T]) {
        let data = Data::Bytes(bytemuck::cast_slice(values).to_vec());
        self.tensors.insert(name.to_owned(), Tensor { dtype, shape, data });
    }

    /// The names of all tensors.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// Adds the tensors and texts of another set.
    pub fn extend(&mut self, other: Self) {
        self.tensors.extend(other.tensors);
        self.texts.extend(other.texts);
    }

    /// Takes out the tensors whose name the predicate accepts.
    pub fn split_off(&mut self, taken: impl Fn(&str) -> bool) -> Self {
        let tensors = std::mem::take(&mut self.tensors);
        let (taken, left) = tensors.into_iter().partition(|(name, _)| taken(name));
        self.tensors = left;
        Self { tensors: taken, texts: BTreeMap::new() }
    }

    /// What differs from another set, tensor by tensor, in words.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut differences = Vec::new();
        for (name, tensor) in &self.tensors {
            match other.tensors.get(name) {
                None => differences.push(format!("there is no '{name}' now")),
                Some(now) if (now.dtype, &now.shape) != (tensor.dtype, &tensor.shape) => {
                    differences.push(format!("'{name}' has another type or size"));
                }
                Some(now) if now.bytes() == tensor.bytes() => {}
                Some(now) => differences.push(format!("'{name}': {}", tensor.difference(now))),
            }
        }
        let new = other.tensors.keys().filter(|name| !self.tensors.contains_key(*name));
        differences.extend(new.map(|name| format!("there was no '{name}' then")));
        differences
    }

    /// Adds a vector of counts or ids.
    pub fn put_u32(&mut self, name: &str, values: &[u32]) {
        self.put(name, Dtype::U32, vec![values.len()], values);
    }

    /// Adds a table, `name.users` and `name.items`.
    pub fn put_embeddings(&mut self, name: &str, tables: &Embeddings) {
        self.put_matrix(&format!("{name}.users"), &tables.users);
        self.put_matrix(&format!("{name}.items"), &tables.items);
    }

    /// Adds a vector of numbers.
    pub(crate) fn put_vector<T: Number>(&mut self, name: &str, values: &[T]) {
        self.put(name, T::DTYPE, vec![values.len()], values);
    }

    /// Adds a square matrix, in row-major order, without copying it.
    pub(crate) fn put_square(&mut self, name: &str, n: usize, values: Arc<Vec<f32>>) {
        assert_eq!(values.len(), n * n, "a square matrix");
        let tensor = Tensor { dtype: Dtype::F32, shape: vec![n, n], data: Data::Floats(values) };
        self.tensors.insert(name.to_owned(), tensor);
    }

    /// Adds a matrix.
    pub fn put_matrix(&mut self, name: &str, table: &Matrix) {
        self.put(name, Dtype::F32, vec![table.rows(), table.cols()], &table.to_dense());
    }

    /// Adds original ids: their text, and where each ends.
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

    /// Adds interactions: the number of each user's items, and the items.
    pub fn put_interactions(&mut self, name: &str, interactions: &Interactions) {
        let counts: Vec<u32> =
            (0..interactions.n_users() as u32).map(|u| interactions.items_of(u).len() as u32).collect();
        let items: Vec<u32> = interactions.pairs().map(|(_, item)| item).collect();
        self.put(&format!("{name}.counts"), Dtype::U32, vec![counts.len()], &counts);
        self.put(&format!("{name}.items"), Dtype::U32, vec![items.len()], &items);
    }

    fn get<T: Pod>(&self, name: &str, dtype: Dtype) -> Result<(Vec<T>, &[usize]), InputError> {
        let tensor = self.tensors.get(name).ok_or_else(|| broken(&format!("it holds no '{name}'")))?;
        if tensor.dtype != dtype {
            return Err(broken(&format!("'{name}' is of type {:?}, not {dtype:?}", tensor.dtype)));
        }
        Ok((bytemuck::allocation::pod_collect_to_vec(tensor.bytes()), &tensor.shape))
    }

    /// A vector of counts or ids, which has so many.
    ///
    /// # Errors
    /// If it isn't there or has another type or length; the same holds for the other getters.
    pub fn get_u32(&self, name: &str, len: usize) -> Result<Vec<u32>, InputError> {
        let (values, _) = self.get::<u32>(name, Dtype::U32)?;
        if values.len() != len {
            return Err(broken(&format!("'{name}' has {} numbers, not {len}", values.len())));
        }
        Ok(values)
    }

    /// A vector of numbers, of any length.
    pub(crate) fn get_vector<T: Number>(&self, name: &str) -> Result<Vec<T>, InputError> {
        Ok(self.get(name, T::DTYPE)?.0)
    }

    /// A table, `name.users` and `name.items`, both with the same number of columns.
    pub fn get_embeddings(&self, name: &str) -> Result<Embeddings, InputError> {
        let users = self.get_matrix(&format!("{name}.users"))?;
        let items = self.get_matrix(&format!("{name}.items"))?;
        if users.cols() != items.cols() {
            return Err(broken(&format!("the tables of '{name}' have different numbers of columns")));
        }
        Ok(Embeddings { users, items })
    }

    /// A square matrix of finite numbers, shared if it was put as such.
    pub(crate) fn get_square(&self, name: &str, n: usize) -> Result<Arc<Vec<f32>>, InputError> {
        let shared = self.tensors.get(name).and_then(|tensor| match &tensor.data {
            Data::Floats(floats) => Some((floats.clone(), &tensor.shape[..])),
            Data::Bytes(_) => None,
        });
        let (values, shape) = match shared {
            Some(shared) => shared,
            None => self.get(name, Dtype::F32).map(|(values, shape)| (Arc::new(values), shape))?,
        };
        if *shape != [n, n] {
            return Err(broken(&format!("'{name}' has the shape {shape:?}")));
        }
        check_finite(name, &values)?;
        Ok(values)
    }

    /// A matrix of finite numbers.
    pub fn get_matrix(&self, name: &str) -> Result<Matrix, InputError> {
        let (values, shape) = self.get::<f32>(name, Dtype::F32)?;
        check_finite(name, &values)?;
        match *shape {
            [rows, cols] if cols > 0 => Matrix::from_dense(rows, cols, &values),
            _ => None,
        }
        .ok_or_else(|| broken(&format!("'{name}' has the shape {shape:?}")))
    }

    /// Original ids.
    pub fn get_ids(&self, name: &str) -> Result<IdMap, InputError> {
        let (text, _) = self.get::<u8>(&format!("{name}.text"), Dtype::U8)?;
        let (ends, _) = self.get::<u64>(&format!("{name}.ends"), Dtype::U64)?;
        let wrong = || broken(&format!("the ids in '{name}' don't add up"));
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

    /// Whether there are interactions of that name.
    pub fn has_interactions(&self, name: &str) -> bool {
        self.tensors.contains_key(&format!("{name}.counts"))
    }

    /// Interactions with so many items.
    pub fn get_interactions(&self, name: &str, n_items: usize) -> Result<Interactions, InputError> {
        let (counts, _) = self.get::<u32>(&format!("{name}.counts"), Dtype::U32)?;
        let (items, _) = self.get::<u32>(&format!("{name}.items"), Dtype::U32)?;
        let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        if total != items.len() as u64 || items.iter().any(|&item| item as usize >= n_items) {
            return Err(broken(&format!("the interactions in '{name}' don't add up")));
        }
        let users = counts.iter().enumerate().flat_map(|(u, &n)| std::iter::repeat_n(u as u32, n as usize));
        Ok(Interactions::from_pairs(counts.len(), n_items, users.zip(items)))
    }

    /// Checks the text `format`, "name version": a foreign file and one from a later release each get their own error.
    pub fn check_format(&self, name: &str, newest: u32) -> Result<(), InputError> {
        let version = self.texts.get("format").and_then(|text| text.strip_prefix(name));
        match version.and_then(|version| version.trim().parse::<u32>().ok()) {
            Some(FIRST_WITH_CHECKSUM..) if !self.texts.contains_key(CHECKSUM) => Err(changed()),
            Some(version) if version <= newest => Ok(()),
            Some(version) => {
                let what = format!("made by a later release (format {version}, known up to {newest})");
                Err(InputError::new(what).help("update rivalry"))
            }
            None => Err(broken(&format!("it is not a {name}"))),
        }
    }
}

fn check_finite(name: &str, values: &[f32]) -> Result<(), InputError> {
    match values.iter().position(|x| !x.is_finite()) {
        Some(at) => Err(broken(&format!("'{name}' has a number that is not finite, at {at}"))),
        None => Ok(()),
    }
}

/// The error for a file whose content is not that of its checksum.
fn changed() -> InputError {
    damaged().help("restore it from a copy, or make it again: rivalry train --resume RUN")
}

/// The error for a file that is damaged or was made by something else.
pub fn broken(what: &str) -> InputError {
    InputError::new(format!("not a Rivalry file, or damaged: {what}"))
        .help("give a run made by 'rivalry train', or train it again")
        .damage()
}
