//! Downloads: afterwards the file is complete and correct, or absent. This program is both the client and the server.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::OnceLock;
use std::time::Duration;

use rivalry::data::{RemoteFile, download};

use super::{Scenario, Tally, names};
use crate::kill::{End, end_after, no_panic, succeed};
use crate::random::Random;

pub const SCENARIO: Scenario = Scenario { name: "a download, kill -9", run };

/// The size of the file, which the server sends slowly in pieces.
const BYTES: usize = 3 << 20;
const TIME: Duration = Duration::from_millis(250);
const SHA256: &str = "0d7baeb8955821e78b332df5c6a2d7c42ad3135de44beb2a51b9c750dce67cb9";

fn content() -> Vec<u8> {
    (0..BYTES).map(|n| (n * n % 251) as u8).collect()
}

/// The address of the server, which runs until the process ends.
fn server() -> &'static str {
    static SERVER: OnceLock<String> = OnceLock::new();
    SERVER.get_or_init(|| {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}/file", listener.local_addr().expect("an address"));
        std::thread::spawn(move || {
            let content = content();
            for mut stream in listener.incoming().flatten() {
                let content = content.clone();
                std::thread::spawn(move || {
                    let _ = stream.read(&mut [0; 4096]);
                    let head =
                        format!("HTTP/1.1 200 OK\r\nContent-Length: {BYTES}\r\nConnection: close\r\n\r\n");
                    let mut send = |bytes: &[u8]| stream.write_all(bytes).is_ok();
                    let pieces = content.chunks(BYTES / 50);
                    let _ = send(head.as_bytes())
                        && pieces.into_iter().all(|piece| {
                            std::thread::sleep(TIME / 50);
                            send(piece)
                        });
                });
            }
        });
        address
    })
}

fn fetch(to: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.arg("--download").arg(server()).arg(to);
    command
}

/// The client: what this program does with `--download`.
pub fn child() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    let [_, _, url, to] = &args[..] else { return ExitCode::FAILURE };
    let file = RemoteFile { url: url.clone(), sha256: SHA256.to_owned(), bytes: BYTES as u64 };
    match download(&file, &PathBuf::from(to), &mut |_, _| {}) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(random: &mut Random, tally: &mut Tally) -> Result<(), String> {
    let place = tempfile::tempdir().map_err(|e| e.to_string())?;
    let to = place.path().join("set.zip");
    let right = || match std::fs::read(&to) {
        Ok(bytes) if bytes == content() => Ok(true),
        Ok(bytes) => Err(format!("{} bytes arrived, or other content", bytes.len())),
        Err(_) => Ok(false),
    };
    for _ in 0..4 {
        let _ = std::fs::remove_file(&to);
        match end_after(fetch(&to), "-KILL", random.within(TIME.mul_f64(1.3))) {
            End::Interrupted(output) => {
                tally.interrupted += 1;
                no_panic(&output)?;
            }
            End::Completed(output) if output.status.success() => tally.completed += 1,
            End::Completed(output) => return Err(crate::kill::said(&output)),
        }
        right()?;
    }
    succeed(fetch(&to))?;
    match (right()?, names(place.path())) {
        (true, left) if left == ["set.zip"] => Ok(()),
        (_, left) => Err(format!("{left:?} is left")),
    }
}
