//! What the system is told about memory: what was freed, and what to put on huge pages.

/// Gives memory that was freed back to the system, where the allocator is glibc's: it keeps large blocks for later ones
/// of the same size, which a server that has just replaced a model may never allocate. Elsewhere this does nothing.
pub fn release_free_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn malloc_trim(pad: usize) -> std::ffi::c_int;
        }
        // SAFETY: the declaration is that of malloc.h. The function may be called at any time from any thread, and touches
        // only memory that is not allocated.
        unsafe { malloc_trim(0) };
    }
}

/// The size from which blocks are mapped by [`map_large_blocks`]: the tables of a model, and nothing that a request needs.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: std::ffi::c_int = 1 << 20;

/// Has large blocks mapped one by one, so that each goes back to the system when it is freed, where the allocator is
/// glibc's: by default it takes them from heaps as soon as one was freed, and what is allocated above a freed one keeps it.
/// For a process that replaces large tables over and over; it holds for the whole process. Elsewhere this does nothing.
pub fn map_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const M_MMAP_THRESHOLD: std::ffi::c_int = -3;
        unsafe extern "C" {
            fn mallopt(param: std::ffi::c_int, value: std::ffi::c_int) -> std::ffi::c_int;
        }
        // SAFETY: the declaration and the constant are those of malloc.h. The function may be called at any time; it changes
        // where later blocks are taken from.
        unsafe { mallopt(M_MMAP_THRESHOLD, LARGE) };
    }
}

/// The size of a huge page on x86-64, and a multiple of the ordinary page size everywhere.
#[cfg(target_os = "linux")]
const HUGE_PAGE: usize = 2 << 20;

/// Asks Linux to put a slice on huge pages, so that a table of gigabytes needs few TLB entries
/// and few page faults. Call it before the slice is first written. A hint: it changes no
/// result, and elsewhere it does nothing.
pub fn advise_huge_pages<T>(slice: &mut [T]) {
    #[cfg(target_os = "linux")]
    {
        use std::ffi::{c_int, c_void};
        const MADV_HUGEPAGE: c_int = 14;
        unsafe extern "C" {
            fn madvise(address: *mut c_void, length: usize, advice: c_int) -> c_int;
        }
        let address = slice.as_ptr().addr();
        let before = address.next_multiple_of(HUGE_PAGE) - address;
        let length = size_of_val(slice).saturating_sub(before) / HUGE_PAGE * HUGE_PAGE;
        if length > 0 {
            let first = slice.as_mut_ptr().cast::<u8>().wrapping_add(before);
            // SAFETY: the declaration and the constant are those of sys/mman.h. The range starts and ends within the slice,
            // and this advice leaves its content as it is. Where the system refuses, nothing has changed.
            unsafe { madvise(first.cast(), length, MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = slice;
}

#[cfg(test)]
mod tests {
    use super::advise_huge_pages;

    #[test]
    fn advice_keeps_the_content_of_slices_of_any_size_and_place() {
        for len in [0, 1, 1 << 10, (1 << 19) + 3, 3 << 20] {
            let mut values: Vec<u32> = (0..len).collect();
            for skip in [0, 1, 5].into_iter().filter(|&skip| skip <= len as usize) {
                advise_huge_pages(&mut values[skip..]);
                assert!(values.iter().zip(0..).all(|(&x, expected)| x == expected), "{len} from {skip}");
            }
        }
    }
}
