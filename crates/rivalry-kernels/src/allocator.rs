//! Memory that was freed, back to the system.

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
