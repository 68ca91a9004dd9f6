//! The item table cut into blocks, and negatives put in their order.

/// The item table cut into blocks of `1 << shift` rows.
#[derive(Clone, Copy)]
pub(super) struct Blocks {
    pub shift: u32,
    pub count: usize,
}

impl Blocks {
    /// Blocks of 512 KiB, or larger where a row of the batch would else find hardly a negative in one; in any case
    /// enough of them to keep many threads busy. Never looks at the number of threads: the order of additions
    /// follows from the blocks.
    pub fn new(n_items: usize, row_bytes: usize, n_negatives: usize) -> Self {
        let rows = (512 * 1024 / row_bytes).max(8 * n_items / n_negatives).min(n_items / 16).max(1);
        let shift = rows.ilog2();
        Self { shift, count: n_items.div_ceil(1 << shift) }
    }

    /// The block an item lies in.
    pub fn of(self, item: u32) -> usize {
        (item >> self.shift) as usize
    }

    /// Puts a row's negatives in the order of their blocks, and within a block in the order they were drawn.
    /// `starts`, one longer than there are blocks, is where each block's negatives start.
    pub fn group(self, drawn: &[u32], grouped: &mut [u32], starts: &mut [u32]) {
        starts.fill(0);
        for &item in drawn {
            starts[self.of(item) + 1] += 1;
        }
        for block in 0..self.count {
            starts[block + 1] += starts[block];
        }
        // While placing, `starts[b]` is the next free place of block b; afterwards it is where block b + 1 starts,
        // and moving all by one puts them right.
        for &item in drawn {
            let place = &mut starts[self.of(item)];
            grouped[*place as usize] = item;
            *place += 1;
        }
        starts.copy_within(0..self.count, 1);
        starts[0] = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grouping_keeps_every_negative_and_the_order_within_a_block() {
        let blocks = Blocks { shift: 2, count: 4 };
        let drawn = [13, 1, 6, 15, 0, 5, 1];
        let (mut grouped, mut starts) = ([0; 7], [0; 5]);
        blocks.group(&drawn, &mut grouped, &mut starts);
        assert_eq!(grouped, [1, 0, 1, 6, 5, 13, 15]);
        assert_eq!(starts, [0, 3, 5, 5, 7]);
    }

    #[test]
    fn blocks_cover_the_table_whatever_its_size() {
        for n_items in [1, 2, 15, 16, 17, 1200, 40_988, 1_000_000] {
            for n_negatives in [1, 1000] {
                let blocks = Blocks::new(n_items, 256, n_negatives);
                assert_eq!(blocks.of(n_items as u32 - 1), blocks.count - 1, "{n_items}");
                assert!(blocks.count >= 16.min(n_items) && blocks.count <= n_items.min(256), "{n_items}");
            }
        }
    }
}
