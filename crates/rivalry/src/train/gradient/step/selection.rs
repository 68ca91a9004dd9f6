//! Which places of a shared pool are the negatives of a training pair.

use std::iter;
use std::ops::Range;

/// The negatives of a pair: the first `n` places of its pool that don't hold an item of its user. If there are fewer, they
/// are repeated; if there are none, the pool is used as it is, for this one step.
#[derive(Clone, Copy)]
pub(super) struct Selection<'a> {
    /// The places that hold an item of the user, ascending.
    seen: &'a [u32],
    n: usize,
    /// How many different places are used.
    distinct: usize,
}

impl<'a> Selection<'a> {
    pub fn new(seen: &'a [u32], n: usize, pool_size: usize) -> Self {
        match pool_size - seen.len() {
            0 => Self { seen: &[], n, distinct: n.min(pool_size) },
            free => Self { seen, n, distinct: n.min(free) },
        }
    }

    /// One more than the last place that is used.
    pub fn end(self) -> usize {
        self.seen.iter().fold(self.distinct, |end, &seen| end + usize::from((seen as usize) < end))
    }

    /// The places that are skipped: those of the user's items before the last place that is used.
    fn skipped(self) -> &'a [u32] {
        &self.seen[..self.end() - self.distinct]
    }

    /// The runs of places between those that are skipped.
    fn runs(self) -> impl Iterator<Item = Range<usize>> + Clone + 'a {
        let (skipped, end) = (self.skipped(), self.end());
        let starts = iter::once(0).chain(skipped.iter().map(|&place| place as usize + 1));
        starts.zip(skipped.iter().map(|&place| place as usize).chain([end])).map(|(from, until)| from..until)
    }

    /// The place of each negative.
    pub fn places(self) -> impl Iterator<Item = usize> + 'a {
        self.runs().flatten().cycle().take(self.n)
    }

    /// The place of one negative.
    pub fn place(self, negative: u32) -> u32 {
        let free = negative % self.distinct as u32;
        self.skipped().iter().fold(free, |place, &seen| place + u32::from(seen <= place))
    }

    /// Adds to the value of each negative that of its place.
    pub fn add(self, places: &[f32], row: &mut [f32]) {
        let mut row = &mut row[..self.n];
        while !row.is_empty() {
            for run in self.runs() {
                let (now, later) = row.split_at_mut(run.len().min(row.len()));
                now.iter_mut().zip(&places[run]).for_each(|(value, place)| *value += place);
                row = later;
            }
        }
    }

    /// From a value for each place of the pool to a value for each negative, in place.
    pub fn compact(self, row: &mut [f32]) {
        let (skipped, end) = (self.skipped(), self.end());
        let mut to = skipped.first().map_or(end, |&first| first as usize);
        for (k, &seen) in skipped.iter().enumerate() {
            let until = skipped.get(k + 1).map_or(end, |&next| next as usize);
            let from = seen as usize + 1;
            row.copy_within(from..until, to);
            to += until - from;
        }
        for k in self.distinct..self.n {
            row[k] = row[k - self.distinct];
        }
    }

    /// The backward pass of [`compact`](Self::compact): from a gradient for each negative to one for each place.
    pub fn expand(self, row: &mut [f32]) {
        for k in self.distinct..self.n {
            row[k % self.distinct] += row[k];
        }
        let (mut from, mut until) = (self.distinct, self.end());
        row[until..].fill(0.0);
        for &seen in self.skipped().iter().rev() {
            let first = seen as usize + 1;
            row.copy_within(from - (until - first)..from, first);
            from -= until - first;
            row[seen as usize] = 0.0;
            until = seen as usize;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compact_takes_the_first_free_places_and_expand_is_its_adjoint() {
        for (seen, n) in
            [(&[][..], 5), (&[0], 5), (&[1, 2, 4], 4), (&[7], 5), (&[5], 5), (&[0, 1, 2, 3, 4, 6, 7], 3)]
        {
            let selection = Selection::new(seen, n, 8);
            let free: Vec<usize> = (0..8).filter(|place| !seen.contains(&(*place as u32))).collect();
            let places: Vec<usize> = (0..n).map(|k| free[k % free.len().min(n)]).collect();
            assert_eq!(selection.places().collect::<Vec<_>>(), places, "{seen:?}");
            assert!((0..n).all(|k| selection.place(k as u32) as usize == places[k]), "{seen:?}");
            assert_eq!(selection.end(), places.iter().max().unwrap() + 1);

            let mut row: [f32; 8] = std::array::from_fn(|place| place as f32 + 10.0);
            selection.compact(&mut row);
            let expected: Vec<f32> = places.iter().map(|&place| place as f32 + 10.0).collect();
            assert_eq!(row[..n], expected, "{seen:?}");

            let mut row = [1.0; 8];
            selection.add(&std::array::from_fn::<f32, 8, _>(|place| place as f32 + 9.0), &mut row);
            assert_eq!(row[..n], expected, "{seen:?}");
            assert!(row[n..].iter().all(|&x| x == 1.0), "{seen:?}");

            let mut grads: [f32; 8] = std::array::from_fn(|k| if k < n { k as f32 + 1.0 } else { f32::NAN });
            selection.expand(&mut grads);
            let mut expected = [0.0; 8];
            places.iter().enumerate().for_each(|(k, &place)| expected[place] += k as f32 + 1.0);
            assert_eq!(grads, expected, "{seen:?}");
        }
    }

    #[test]
    fn a_pool_without_free_places_is_used_as_it_is() {
        let selection = Selection::new(&[0, 1, 2, 3], 3, 4);
        let mut row = [1.0, 2.0, 3.0, 4.0];
        selection.compact(&mut row);
        assert_eq!(row, [1.0, 2.0, 3.0, 4.0]);
    }
}
