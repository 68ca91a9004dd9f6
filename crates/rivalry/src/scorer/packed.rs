//! Products of query vectors with a packed table.

use rivalry_kernels::{LANES, Lane, ZERO, dots_packed, pack_panels};

use super::ItemBlock;
use crate::Matrix;

/// Packs a table into panels.
pub(super) fn pack(table: &Matrix) -> Vec<Lane> {
    let width = table.lanes() * LANES;
    let mut panels = vec![ZERO; table.rows().div_ceil(LANES) * width];
    pack_panels(table.as_lanes(), table.lanes(), &mut panels);
    panels
}

/// The dot products of each vector with some rows of a table, of which these are the panels.
pub(super) fn dots(
    vectors: &Matrix,
    table: &Matrix,
    panels: &[Lane],
    items: ItemBlock<'_>,
    out: &mut Matrix,
) {
    let lanes = vectors.lanes();
    assert_eq!(lanes, table.lanes(), "queries of another dimension");
    out.resize(vectors.rows(), items.len());
    match items {
        ItemBlock::Range(range) if (range.start as usize).is_multiple_of(LANES) => {
            let (first, n) = (range.start as usize / LANES, range.len().div_ceil(LANES));
            let width = lanes * LANES;
            let panels = &panels[first * width..(first + n) * width];
            let stride = out.lanes();
            dots_packed(vectors.as_lanes(), lanes, panels, out.as_lanes_mut(), stride);
        }
        _ => {
            let ids: Vec<u32> = items.iter().collect();
            let panels = pack(&table.gather(&ids));
            let stride = out.lanes();
            dots_packed(vectors.as_lanes(), lanes, &panels, out.as_lanes_mut(), stride);
        }
    }
}
