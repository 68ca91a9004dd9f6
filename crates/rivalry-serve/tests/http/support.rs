//! Small models, a server on a free port, and a client.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use rivalry::config::{Config, source_layer};
use rivalry::model::Model;
use rivalry::train::{Fitted, NoCheckpoints, NoObserver, fit};
use rivalry_serve::{ErrorBody, ModelSource, ServeOptions, Server};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A model trained for a moment on the generated data set.
pub fn trained(settings: &str) -> Model {
    let common = "train = { epochs = 2, eval_every = 2, negatives = 60, batch_size = 300 }\nmodel.dim = 16";
    let closed_form = settings.contains("popularity");
    let common = if closed_form { "" } else { common };
    let layers = [source_layer("synthetic"), common.parse().unwrap(), settings.parse().unwrap()];
    let config = Config::from_layers(&layers).unwrap();
    let data = rivalry::data::load(&config.data, &Default::default(), &mut |_| {}).unwrap();
    match fit(&data, &config, None, &mut NoCheckpoints, &mut NoObserver).unwrap() {
        Fitted::Done(fit) => fit.into_model(&data, config),
        Fitted::Stopped(_) => unreachable!(),
    }
}

/// MF trained with DSL.
pub fn dsl() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| trained("loss = { type = 'dsl', alpha = 2, beta = 1 }"))
}

/// The same with another seed.
pub fn other() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| trained("loss.type = 'sl'\ntrain.seed = 7"))
}

/// The most popular items.
pub fn popularity() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| trained("model.type = 'popularity'"))
}

/// A folder with model files, and a server of them.
pub struct World {
    pub folder: tempfile::TempDir,
    pub server: Option<Server>,
    pub key: Option<String>,
    address: SocketAddr,
}

impl World {
    /// Serves these models by name, with what else is set.
    pub fn with(models: &[(&str, &Model)], set: impl FnOnce(&Path, &mut ServeOptions)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let source = |&(name, model): &(&str, &Model)| {
            let path = model_path(folder.path(), name);
            model.save(&path).unwrap();
            ModelSource { name: name.to_owned(), path }
        };
        let mut options = ServeOptions::new(models.iter().map(source).collect());
        options.listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        options.threads = 2;
        options.watch = None;
        set(folder.path(), &mut options);
        let key = options.key.clone();
        let server = Server::start(options).unwrap();
        Self { folder, key, address: server.address(), server: Some(server) }
    }

    /// Serves one model.
    pub fn of(model: &Model) -> Self {
        Self::with(&[("model", model)], |_, _| {})
    }

    pub fn path(&self, name: &str) -> PathBuf {
        model_path(self.folder.path(), name)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The answer to a GET request: its status and its body.
    pub fn get(&self, path: &str) -> (u16, String) {
        let request = agent().get(format!("http://{}{path}", self.address));
        let request = match &self.key {
            Some(key) => request.header("Authorization", format!("Bearer {key}")),
            None => request,
        };
        read(request.call().unwrap())
    }

    /// The answer to a POST request.
    pub fn post(&self, path: &str, body: &str) -> (u16, String) {
        let request = agent().post(format!("http://{}{path}", self.address));
        let request = request.header("Content-Type", "application/json");
        let request = match &self.key {
            Some(key) => request.header("X-API-Key", key),
            None => request,
        };
        read(request.send(body).unwrap())
    }

    /// What a GET request that succeeds answers.
    pub fn ask<T: DeserializeOwned>(&self, path: &str) -> T {
        let (status, body) = self.get(path);
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap_or_else(|e| panic!("{path}: {e}: {body}"))
    }

    /// What a POST request that succeeds answers.
    pub fn tell<T: DeserializeOwned>(&self, path: &str, body: Value) -> T {
        let (status, answer) = self.post(path, &body.to_string());
        assert_eq!(status, 200, "{path}: {answer}");
        serde_json::from_str(&answer).unwrap_or_else(|e| panic!("{path}: {e}: {answer}"))
    }

    /// What bytes sent as they are get as an answer; nothing if the connection is closed. Where nothing more than that
    /// may come, the server is told so.
    pub fn raw(&self, bytes: &[u8], cut_off: bool) -> String {
        let mut stream = self.connect();
        // The server may have answered and closed before everything was sent.
        let _ = stream.write_all(bytes);
        if cut_off {
            let _ = stream.shutdown(std::net::Shutdown::Write);
        }
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }
}

/// The status of an error, and its code.
pub fn code((status, body): (u16, String)) -> (u16, String) {
    let error: ErrorBody = serde_json::from_str(&body).unwrap_or_else(|e| panic!("{e}: {body}"));
    assert!(!error.error.message.is_empty() && !error.error.help.is_empty(), "{body}");
    (status, error.error.code)
}

fn model_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.safetensors"))
}

fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder().http_status_as_error(false);
    config.timeout_global(Some(Duration::from_secs(20))).build().new_agent()
}

fn read(mut response: ureq::http::Response<ureq::Body>) -> (u16, String) {
    (response.status().as_u16(), response.body_mut().read_to_string().unwrap())
}
