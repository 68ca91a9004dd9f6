//! Fetching a file whose checksum is known: it appears whole and right under its name, or not at all.

use std::{
    fs,
    io::{Read, Write},
    net::IpAddr,
    path::Path,
    time::Duration,
};

use ureq::{Agent, ResponseExt, http::Uri};

use super::digest::Sum;
use crate::error::{Error, Result};
use crate::files::{Draft, sync_folder};

/// Connecting and every single read must be done in this time; a slow but steady download may take longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Fetches `url` to the file `to`, whose folder is made if need be.
///
/// Only HTTPS is spoken, except to this machine itself. `progress` hears how many bytes have come, and how many
/// there will be if the server says so. The file takes its name only once its SHA-256 is `sha256`; after a failure
/// (also: more than `max_bytes`) nothing is left behind.
pub fn download(
    url: &str,
    to: &Path,
    sha256: &str,
    max_bytes: u64,
    progress: &mut dyn FnMut(u64, Option<u64>),
) -> Result<()> {
    let fail = |reason: String| Error::Download { url: url.to_owned(), reason };
    let too_large = || fail(format!("the file is larger than the {max_bytes} bytes it should have"));
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|source| Error::io("create", folder, source))?;

    let uri: Uri = url.parse().map_err(|error| fail(format!("not an address: {error}")))?;
    let response = agent(&uri).get(&uri).call().map_err(|error| fail(error.to_string()))?;
    if !is_loopback(&uri) && !is_https(response.get_uri()) {
        return Err(fail(format!("it leads to {}, which is not HTTPS", response.get_uri())));
    }
    let body = response.into_body();
    let total = body.content_length();
    if total.is_some_and(|total| total > max_bytes) {
        return Err(too_large());
    }

    let written = |source| Error::io("write", to, source);
    let mut draft = Draft::new(folder, ".download-").map_err(written)?;
    let mut reader = body.into_with_config().limit(u64::MAX).reader();
    let mut sum = Sum::default();
    let mut done = 0;
    let mut buffer = vec![0; 1 << 16];
    loop {
        progress(done, total);
        let n = reader.read(&mut buffer).map_err(|error| fail(error.to_string()))?;
        if n == 0 {
            break;
        }
        done += n as u64;
        if done > max_bytes {
            return Err(too_large());
        }
        sum.update(&buffer[..n]);
        draft.file_mut().write_all(&buffer[..n]).map_err(written)?;
    }
    let actual = sum.hex();
    if !actual.eq_ignore_ascii_case(sha256) {
        let reason = format!("what came ({done} bytes) has SHA-256 {actual}, but it should be {sha256}");
        return Err(fail(reason));
    }
    draft.persist(to).map_err(written)?;
    sync_folder(folder);
    Ok(())
}

fn agent(uri: &Uri) -> Agent {
    let config = Agent::config_builder()
        .https_only(!is_loopback(uri))
        .timeout_resolve(Some(PATIENCE))
        .timeout_connect(Some(PATIENCE))
        .timeout_recv_response(Some(PATIENCE))
        .timeout_per_read(Some(PATIENCE));
    // A proxy would look for its own loopback.
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
pub(super) mod tests {
    use std::{net::TcpListener, thread, time::Instant};

    use tiny_http::{Header, Response, Server};

    use super::*;

    type Reports = Vec<(u64, Option<u64>)>;

    const BODY: &[u8] = b"twelve bytes";

    /// Answers requests on a loopback port from now on; returns its address.
    pub(in crate::data) fn serve(body: &'static [u8]) -> String {
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

    /// Promises more than it sends, once, and hangs up; returns its address.
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

    pub(in crate::data) fn sha256(bytes: &[u8]) -> String {
        let mut sum = Sum::default();
        sum.update(bytes);
        sum.hex()
    }

    /// Fetches into an empty folder; returns the result, the file's bytes and all that was reported.
    fn fetch(path: &str, sha256: &str, max_bytes: u64) -> (Result<()>, Option<Vec<u8>>, Reports) {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("new/file.zip");
        let mut reports = vec![];
        let url = if path == "/cut" { serve_cut() } else { format!("{}{path}", serve(BODY)) };
        let result = download(&url, &to, sha256, max_bytes, &mut |done, total| reports.push((done, total)));
        let files = fs::read_dir(to.parent().unwrap()).unwrap().count();
        assert_eq!(files, usize::from(result.is_ok()), "only a whole file may be left");
        (result, fs::read(to).ok(), reports)
    }

    #[test]
    fn a_file_arrives_directly_by_redirect_and_in_chunks() {
        for path in ["/file", "/moved", "/stream"] {
            let (result, bytes, reports) = fetch(path, &sha256(BODY), 12);
            result.unwrap();
            assert_eq!(bytes.as_deref(), Some(BODY));
            assert_eq!(reports.last().unwrap().0, 12);
            assert_eq!(reports[0], (0, (path != "/stream").then_some(12)));
        }
    }

    #[test]
    fn a_failed_download_says_why_and_leaves_nothing() {
        let sum = sha256(BODY);
        for (path, sum, max_bytes, expected) in [
            ("/file", "abc", 12, "but it should be abc"),
            ("/nowhere", &*sum, 12, "404"),
            ("/file", &*sum, 11, "larger than the 11 bytes"),
            ("/stream", &*sum, 11, "larger than the 11 bytes"),
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
    fn plain_http_is_for_this_machine_only() {
        let folder = tempfile::tempdir().unwrap();
        let started = Instant::now();
        for url in ["http://192.0.2.1/file", "ftp://127.0.0.1/file", "no address"] {
            let result = download(url, &folder.path().join("file"), "", 1, &mut |_, _| {});
            assert!(matches!(result, Err(Error::Download { .. })), "{url}: {result:?}");
        }
        assert!(started.elapsed() < Duration::from_secs(5), "refused without trying");
        let loopback = |url: &str| is_loopback(&url.parse().unwrap());
        assert!(
            loopback("http://[::1]:80/x") && loopback("http://localhost/x") && loopback("http://127.9.9.9/")
        );
        assert!(!loopback("http://127.0.0.1.example.org/") && !loopback("http://localhost.example.org/"));
    }
}
