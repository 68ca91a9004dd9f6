// Bodies of requests to the server, each sent to every path that takes one. A body that makes the server panic, answer 500 or not
// answer at all is a finding.
#![no_main]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::OnceLock;

use rivalry::config::{Config, source_layer};
use rivalry::train::{Fitted, NoCheckpoints, NoObserver, fit};
use rivalry_serve::{ModelSource, ServeOptions, Server};

/// A server of a small model on a free port of the loopback address.
fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let settings = "model.dim = 8\nloss.type = 'dsl'\ntrain = { epochs = 1, negatives = 20 }";
        let layers = [source_layer("synthetic"), settings.parse().expect("TOML")];
        let config = Config::from_layers(&layers).expect("a config");
        let data = rivalry::data::load(&config.data, &Default::default(), &mut |_| {}).expect("data");
        let fitted = fit(&data, &config, None, &mut NoCheckpoints, &mut NoObserver).expect("a model");
        let Fitted::Done(fit) = fitted else { panic!("it was not stopped") };
        let folder = std::env::temp_dir().join(format!("rivalry-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("model.safetensors");
        fit.into_model(&data, config).save(&path).expect("a model file");
        let mut options = ServeOptions::new(vec![ModelSource { name: "model".to_owned(), path }]);
        options.listen.set_port(0);
        options.threads = 1;
        options.watch = None;
        options.feedback = Some(folder.join("feedback.jsonl"));
        Server::start(options).expect("a server")
    })
}

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    for path in ["/api/recommend", "/api/rank", "/api/explain", "/api/feedback"] {
        let mut stream = TcpStream::connect(server().address()).expect("a connection");
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body].concat()).expect("a request");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        let status: u16 = String::from_utf8_lossy(&answer[9..12]).parse().expect("a status");
        assert!((200..500).contains(&status), "{status}");
    }
});
