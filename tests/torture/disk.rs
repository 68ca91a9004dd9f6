//! A small temporary file system, where this machine permits mounting one.

use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A tmpfs that is unmounted when dropped.
pub struct Disk(TempDir);

impl Disk {
    /// Mounts a disk of this size, or returns why that failed.
    pub fn new(kilobytes: usize) -> Result<Self, String> {
        let place = tempfile::tempdir().map_err(|e| e.to_string())?;
        let size = format!("size={kilobytes}k");
        mount(&["-t", "tmpfs", "-o", &size, "tmpfs"], place.path())?;
        Ok(Self(place))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Remounts with other options: `size=…`, `ro`, `rw`.
    pub fn change(&self, options: &str) -> Result<(), String> {
        mount(&["-o", &format!("remount,{options}")], self.path())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).stderr(Stdio::null()).status();
    }
}

fn mount(args: &[&str], place: &Path) -> Result<(), String> {
    let output = Command::new("mount").args(args).arg(place).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Err(format!("mount: {error}")),
    }
}
