//! Downloads with a known checksum: the file appears complete and verified, or not at all.

use std::{
    fs,
    io::{Read, Write},
    net::IpAddr,
    path::Path,
    time::Duration,
};

use ureq::{Agent, ResponseExt, http::Uri};

use super::RemoteFile;
use super::digest::Hasher;
use crate::error::{Error, Result};
use crate::files::{PendingFile, sync_folder};

/// The timeout for connecting and for each read; a slow but steady download may take longer.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Downloads `file` to the path `to`, creating its folder if necessary.
///
/// Only HTTPS is used, except for loopback addresses. `progress` is called with the number of bytes received and the
/// total, if the server states it. The file gets its name only after its SHA-256 was verified; after an error nothing is
/// left behind.
///
/// # Errors
/// If the address can't be reached, the file is longer than stated or has another checksum, or it can't be written.
pub fn download(file: &RemoteFile, to: &Path, progress: &mut dyn FnMut(u64, Option<u64>)) -> Result<()> {
    let RemoteFile { url, sha256, bytes: max_bytes } = file;
    let fail = |reason: String| Error::Download { url: url.clone(), reason };
    let too_large = || fail(format!("the file is larger than the expected {max_bytes} bytes"));
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|source| Error::io("create", folder, source))?;

    let uri: Uri = url.parse().map_err(|error| fail(format!("not a valid address: {error}")))?;
    let response = agent(&uri).get(&uri).call().map_err(|error| fail(error.to_string()))?;
    if !is_loopback(&uri) && !is_https(response.get_uri()) {
        return Err(fail(format!("it redirects to {}, which is not HTTPS", response.get_uri())));
    }
    let body = response.into_body();
    let total = body.content_length();
    if total.is_some_and(|total| total > *max_bytes) {
        return Err(too_large());
    }

    let written = |source| Error::io("write", to, source);
    let mut pending = PendingFile::new(folder, ".download-").map_err(written)?;
    let mut reader = body.into_with_config().limit(u64::MAX).reader();
    let mut hasher = Hasher::default();
    let mut done = 0;
    let mut buffer = vec![0; 1 << 16];
    loop {
        progress(done, total);
        let n = reader.read(&mut buffer).map_err(|error| fail(error.to_string()))?;
        if n == 0 {
            break;
        }
        done += n as u64;
        if done > *max_bytes {
            return Err(too_large());
        }
        hasher.update(&buffer[..n]);
        pending.file_mut().write_all(&buffer[..n]).map_err(written)?;
    }
    let actual = hasher.hex();
    if !actual.eq_ignore_ascii_case(sha256) {
        let reason = format!("the downloaded file ({done} bytes) has SHA-256 {actual}, expected {sha256}");
        return Err(fail(reason));
    }
    pending.persist(to).map_err(written)?;
    let _ = sync_folder(folder);
    Ok(())
}

fn agent(uri: &Uri) -> Agent {
    let config = Agent::config_builder()
        .https_only(!is_loopback(uri))
        .timeout_resolve(Some(TIMEOUT))
        .timeout_connect(Some(TIMEOUT))
        .timeout_recv_response(Some(TIMEOUT))
        .timeout_per_read(Some(TIMEOUT));
    // A proxy would connect to its own loopback address.
    let config = if is_loopback(uri) { config.proxy(None) } else { config };
    config.build().into()
}

fn is_https(uri: &Uri) -> bool {
    uri.scheme_str() == Some("https")
}

fn is_loopback(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
pub(crate) mod tests {
    use std::{net::TcpListener, thread, time::Instant};

    use tiny_http::{Header, Response, Server};

    use super::*;
    use crate::digest;

    type Reports = Vec<(u64, Option<u64>)>;

    const BODY: &[u8] = b"twelve bytes";

    /// Starts a server on a loopback port; returns its address.
    pub(crate) fn serve(body: &'static [u8]) -> String {
        let server = Server::http("127.0.0.1:0").unwrap();
        let address = format!("http://{}", server.server_addr());
        thread::spawn(move || {
            for request in server.incoming_requests() {
                let header = |text: &str| text.parse::<Header>().unwrap();
                let response = Response::from_data(body);
                let _ = match request.url() {
                    "/file" => request.respond(response),
                    "/moved" => {
                        request.respond(response.with_status_code(302).with_header(header("Location: /file")))
                    }
                    "/stream" => request.respond(response.with_chunked_threshold(0)),
                    _ => request.respond(response.with_status_code(404)),
                };
            }
        });
        address
    }

    /// Starts a server that announces more than it sends and closes the connection; returns its address.
    fn serve_cut() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]);
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n").unwrap();
            stream.write_all(BODY).unwrap();
        });
        address
    }

    /// Downloads into an empty folder; returns the result, the file's content and all progress reports.
    fn fetch(path: &str, sha256: &str, max_bytes: u64) -> (Result<()>, Option<Vec<u8>>, Reports) {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("new/file.zip");
        let mut reports = vec![];
        let url = if path == "/cut" { serve_cut() } else { format!("{}{path}", serve(BODY)) };
        let file = RemoteFile { url, sha256: sha256.to_owned(), bytes: max_bytes };
        let result = download(&file, &to, &mut |done, total| reports.push((done, total)));
        let files = fs::read_dir(to.parent().unwrap()).unwrap().count();
        assert_eq!(files, usize::from(result.is_ok()), "only a complete file may be left");
        (result, fs::read(to).ok(), reports)
    }

    #[test]
    fn a_file_is_downloaded_directly_through_a_redirect_and_in_chunks() {
        for path in ["/file", "/moved", "/stream"] {
            let (result, bytes, reports) = fetch(path, &digest::of_bytes(BODY), 12);
            result.unwrap();
            assert_eq!(bytes.as_deref(), Some(BODY));
            assert_eq!(reports.last().unwrap().0, 12);
            assert_eq!(reports[0], (0, (path != "/stream").then_some(12)));
        }
    }

    #[test]
    fn a_failed_download_says_why_and_leaves_nothing_behind() {
        let sum = digest::of_bytes(BODY);
        for (path, sum, max_bytes, expected) in [
            ("/file", "abc", 12, "expected abc"),
            ("/nowhere", &*sum, 12, "404"),
            ("/file", &*sum, 11, "larger than the expected 11 bytes"),
            ("/stream", &*sum, 11, "larger than the expected 11 bytes"),
            ("/cut", &*sum, 2000, "can't download"),
        ] {
            let (result, bytes, _) = fetch(path, sum, max_bytes);
            let error = result.unwrap_err();
            assert!(matches!(error, Error::Download { .. }) && error.exit_code() == 1);
            assert!(error.to_string().contains(expected), "{path}: {error}");
            assert_eq!(bytes, None);
        }
    }

    #[test]
    fn plain_http_is_refused_except_for_loopback_addresses() {
        let folder = tempfile::tempdir().unwrap();
        let started = Instant::now();
        for url in ["http://192.0.2.1/file", "ftp://127.0.0.1/file", "no address"] {
            let file = RemoteFile { url: url.to_owned(), sha256: String::new(), bytes: 1 };
            let result = download(&file, &folder.path().join("file"), &mut |_, _| {});
            assert!(matches!(result, Err(Error::Download { .. })), "{url}: {result:?}");
        }
        assert!(started.elapsed() < Duration::from_secs(5), "refused without connecting");
        let loopback = |url: &str| is_loopback(&url.parse().unwrap());
        assert!(
            loopback("http://[::1]:80/x") && loopback("http://localhost/x") && loopback("http://127.9.9.9/")
        );
        assert!(!loopback("http://127.0.0.1.example.org/") && !loopback("http://localhost.example.org/"));
    }
}
