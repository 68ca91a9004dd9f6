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
