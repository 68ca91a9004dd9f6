//! Sparse item-to-item weights.

use super::{ItemBlock, ItemWeights};
use crate::InputError;
use crate::tensors::{Tensors, broken};

/// A sparse matrix in compressed sparse row form: row i is what item i contributes to the scores of the others.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SparseWeights {
    offsets: Vec<u64>,
    items: Vec<u32>,
    values: Vec<f32>,
}

impl SparseWeights {
    /// The matrix of these rows, each ascending by item.
    pub fn from_rows<'a>(rows: impl IntoIterator<Item = &'a [(u32, f32)]>) -> Self {
        let mut weights = Self { offsets: vec![0], items: Vec::new(), values: Vec::new() };
        for row in rows {
            weights.items.extend(row.iter().map(|&(item, _)| item));
            weights.values.extend(row.iter().map(|&(_, value)| value));
            weights.offsets.push(weights.items.len() as u64);
        }
        weights
    }

    /// The transpose.
    pub fn transposed(&self) -> Self {
        let n = self.n_items();
        let mut offsets = vec![0u64; n + 1];
        for &item in &self.items {
            offsets[item as usize + 1] += 1;
        }
        for item in 0..n {
            offsets[item + 1] += offsets[item];
        }
        let mut next = offsets.clone();
        let (mut items, mut values) = (vec![0; self.items.len()], vec![0.0; self.items.len()]);
        for from in 0..n {
            let (row, weights) = self.row(from as u32);
            for (&to, &weight) in row.iter().zip(weights) {
                let place = &mut next[to as usize];
                (items[*place as usize], values[*place as usize]) = (from as u32, weight);
                *place += 1;
            }
        }
        Self { offsets, items, values }
    }

    /// The items that a row has a weight for, ascending, and the weights.
    pub fn row(&self, item: u32) -> (&[u32], &[f32]) {
        let range = self.offsets[item as usize] as usize..self.offsets[item as usize + 1] as usize;
        (&self.items[range.clone()], &self.values[range])
    }

    /// Whether all weights are finite.
    pub fn is_finite(&self) -> bool {
        self.values.iter().all(|x| x.is_finite())
    }

    /// Adds `name.indptr`, `name.indices` and `name.data`, as SciPy names them.
    pub fn put(&self, name: &str, tensors: &mut Tensors) {
        tensors.put_vector(&format!("{name}.indptr"), &self.offsets);
        tensors.put_vector(&format!("{name}.indices"), &self.items);
        tensors.put_vector(&format!("{name}.data"), &self.values);
    }

    /// Reads what [`put`](Self::put) has added.
    ///
    /// # Errors
    /// If it is not there, or not a matrix of that many items.
    pub fn get(name: &str, tensors: &Tensors, n_items: usize) -> Result<Self, InputError> {
        let offsets: Vec<u64> = tensors.get_vector(&format!("{name}.indptr"))?;
        let items: Vec<u32> = tensors.get_vector(&format!("{name}.indices"))?;
        let values: Vec<f32> = tensors.get_vector(&format!("{name}.data"))?;
        let weights = Self { offsets, items, values };
        match weights.is_valid(n_items) {
            true => Ok(weights),
            false => Err(broken(&format!("the numbers of '{name}' don't make a sparse matrix"))),
        }
    }

    fn is_valid(&self, n_items: usize) -> bool {
        let ends = [self.offsets.first(), self.offsets.last()];
        self.offsets.len() == n_items + 1
            && ends == [Some(&0), Some(&(self.items.len() as u64))]
            && self.offsets.is_sorted()
            && self.values.len() == self.items.len()
            && self.is_finite()
            && (0..n_items as u32).all(|item| {
                let row = self.row(item).0;
                row.is_sorted_by(|a, b| a < b) && row.last().is_none_or(|&last| (last as usize) < n_items)
            })
    }
}

impl ItemWeights for SparseWeights {
    fn n_items(&self) -> usize {
        self.offsets.len() - 1
    }

    /// All: to find the part of a row that belongs to a block takes longer than to add the row.
    fn items_at_once(&self) -> usize {
        self.n_items()
    }

    fn add_row(&self, item: u32, to: &ItemBlock<'_>, out: &mut [f32]) {
        let (items, values) = self.row(item);
        match to {
            ItemBlock::Range(range) => {
                let from = items.partition_point(|&item| item < range.start);
                for (&item, value) in items[from..].iter().zip(&values[from..]) {
                    if item >= range.end {
                        break;
                    }
                    out[(item - range.start) as usize] += value;
                }
            }
            ItemBlock::Ids(ids) => {
                for (sum, id) in out.iter_mut().zip(*ids) {
                    if let Ok(place) = items.binary_search(id) {
                        *sum += values[place];
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights() -> SparseWeights {
        SparseWeights::from_rows([&[(1, 0.5), (2, -1.0)][..], &[], &[(0, 2.0)]])
    }

    #[test]
    fn rows_are_added_to_ranges_and_to_lists_of_items() {
        let sums = |item, to: ItemBlock<'_>| {
            let mut out = vec![1.0; to.len()];
            weights().add_row(item, &to, &mut out);
            out
        };
        assert_eq!(sums(0, ItemBlock::Range(0..3)), [1.0, 1.5, 0.0]);
        assert_eq!(sums(0, ItemBlock::Range(2..3)), [0.0]);
        assert_eq!(sums(0, ItemBlock::Ids(&[0, 2])), [1.0, 0.0]);
        assert_eq!(sums(1, ItemBlock::Range(0..3)), [1.0; 3]);
        assert_eq!(weights().transposed().row(0), (&[2][..], &[2.0][..]));
        assert_eq!(weights().transposed().transposed(), weights());
    }

    #[test]
    fn a_file_gives_them_back_and_damaged_numbers_are_refused() {
        let mut tensors = Tensors::default();
        weights().put("w", &mut tensors);
        assert_eq!(SparseWeights::get("w", &tensors, 3).unwrap(), weights());
        assert!(SparseWeights::get("w", &tensors, 4).is_err());
        assert!(SparseWeights::get("v", &tensors, 3).is_err());
        for wrong in [
            SparseWeights { offsets: vec![0, 2, 1, 3], ..weights() },
            SparseWeights { offsets: vec![1, 2, 2, 3], ..weights() },
            SparseWeights { items: vec![2, 1, 0], ..weights() },
            SparseWeights { items: vec![1, 3, 0], ..weights() },
            SparseWeights { values: vec![0.5, f32::NAN, 2.0], ..weights() },
            SparseWeights { values: vec![0.5], ..weights() },
        ] {
            let mut tensors = Tensors::default();
            wrong.put("w", &mut tensors);
            assert!(SparseWeights::get("w", &tensors, 3).is_err(), "{wrong:?}");
        }
    }
}
