//! Sorts more entries than fit into memory: runs are sorted in memory and written to files, then merged.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::path::Path;

use rayon::prelude::*;

use super::core::Kept;
use super::pairs::{PairFile, PairReader, PairWriter};
use super::{Budget, Entry, Progress};
use crate::error::Result;

/// Collects entries in any order.
pub(super) struct Sorter<'s, E> {
    folder: &'s Path,
    /// How many entries are in memory at most.
    capacity: usize,
    entries: Vec<E>,
    runs: Vec<PairFile<E>>,
    /// How many files have been written.
    files: usize,
    /// How many entries there are.
    len: u64,
}

impl<'s, E: Entry> Sorter<'s, E> {
    /// Writes its files to a folder.
    pub fn new(folder: &'s Path, budget: &Budget) -> Self {
        let capacity = (budget.run / size_of::<E>()).max(1);
        Self { folder, capacity, entries: Vec::new(), runs: Vec::new(), files: 0, len: 0 }
    }

    pub fn push(&mut self, entry: E) -> Result<()> {
        if self.entries.len() == self.capacity {
            self.end_run()?;
        }
        if self.entries.len() == self.entries.capacity() {
            // Not more than the capacity, as doubling might.
            let more = self.entries.len().clamp(1 << 10, 1 << 24).min(self.capacity - self.entries.len());
            self.entries.reserve_exact(more);
        }
        self.entries.push(entry);
        self.len += 1;
        Ok(())
    }

    /// Writes the entries in memory to a file.
    fn end_run(&mut self) -> Result<()> {
        self.entries.par_sort_unstable();
        let mut run = self.create()?;
        for same in self.entries.chunk_by(|one, other| one.pair() == other.pair()) {
            same.last().map_or(Ok(()), |entry| run.push(*entry))?;
        }
        self.runs.push(run.finish()?);
        self.entries.clear();
        Ok(())
    }

    fn create(&mut self) -> Result<PairWriter<E>> {
        self.files += 1;
        PairWriter::create(self.folder, &format!("run-{}", self.files))
    }

    /// All entries in order, the last of each pair alone; they are added to `kept`.
    pub fn merge(mut self, budget: &Budget, kept: &mut Kept, progress: Progress<'_>) -> Result<PairFile<E>> {
        self.end_run()?;
        self.entries = Vec::new();
        while self.runs.len() > budget.fan_in.max(2) {
            let some: Vec<PairFile<E>> = self.runs.drain(..budget.fan_in.max(2)).collect();
            let mut merged = self.create()?;
            merge(&some, budget.buffer, &mut |entry| merged.push(entry))?;
            self.runs.push(merged.finish()?);
        }
        let mut merged = PairWriter::create(self.folder, "pairs")?;
        let (mut done, len) = (0, self.len);
        merge(&self.runs, budget.buffer, &mut |entry| {
            if done % (1 << 20) == 0 {
                progress("sorting", done, len);
            }
            done += 1;
            kept.add(entry);
            merged.push(entry)
        })?;
        merged.finish()
    }
}

/// Calls `f` with the entries of sorted files in order, the last of each pair alone.
fn merge<E: Entry>(runs: &[PairFile<E>], buffer: usize, f: &mut dyn FnMut(E) -> Result<()>) -> Result<()> {
    let mut readers: Vec<PairReader<'_, E>> =
        runs.iter().map(|run| run.read(buffer)).collect::<Result<_>>()?;
    let mut heap = BinaryHeap::new();
    for (run, reader) in readers.iter_mut().enumerate() {
        heap.extend(reader.next()?.map(|entry| Reverse((entry, run))));
    }
    let mut last: Option<E> = None;
    while let Some(mut top) = heap.peek_mut() {
        let Reverse((entry, run)) = *top;
        match readers[run].next()? {
            Some(next) => top.0.0 = next,
            None => {
                PeekMut::pop(top);
            }
        }
        if let Some(last) = last.replace(entry).filter(|last| last.pair() != entry.pair()) {
            f(last)?;
        }
    }
    last.map_or(Ok(()), f)
}
