//! The server: a listener, connections with timeouts, and an orderly end.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use rivalry::{Error, InputError, Result};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, watch};
use tower_service::Service;

use crate::api;
use crate::app::App;
use crate::guard::Client;
use crate::options::ServeOptions;
use crate::write_timeout::WriteTimeout;

/// A running server. It has threads of its own; dropping it stops it.
///
/// ```no_run
/// use rivalry_serve::{ModelSource, ServeOptions, Server};
/// let server = Server::start(ServeOptions::new(vec![ModelSource::at("runs/log-mf-dsl-ca-1")]))?;
/// println!("http://{}", server.address());
/// server.wait();
/// # Ok::<(), rivalry::Error>(())
/// ```
pub struct Server {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    done: watch::Receiver<bool>,
    runtime: Option<Runtime>,
}

impl Server {
    /// Loads the models and starts to answer.
    ///
    /// # Errors
    /// If a file can't be loaded, or the address can't be listened on.
    pub fn start(options: ServeOptions) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(match options.threads {
                0 => std::thread::available_parallelism().map_or(1, usize::from),
                n => n,
            })
            .thread_name("http")
            .enable_io()
            .enable_time()
            .build()
            .map_err(|e| Error::io("start", "threads", e))?;
        let app = Arc::new(App::new(options)?);
        let listen = app.options.listen;
        let listener = runtime.block_on(TcpListener::bind(listen)).map_err(|e| {
            let what = format!("can't listen on {listen}: {e}");
            Error::from(InputError::new(what).help("choose another --listen, or stop what is using it"))
        })?;
        let address = listener.local_addr().map_err(|e| Error::io("listen on", listen.to_string(), e))?;
        let (stop, stopped) = watch::channel(false);
        let (finished, done) = watch::channel(false);
        runtime.spawn(watch_files(Arc::clone(&app), stopped.clone()));
        runtime.spawn(async move {
            serve(listener, app, stopped).await;
            let _ = finished.send(true);
        });
        Ok(Self { address, stop, done, runtime: Some(runtime) })
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A handle that another thread can stop the server with.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.stop.clone())
    }

    /// Waits until the server is stopped and has answered the requests that were in progress.
    pub fn wait(mut self) {
        self.finish();
    }

    fn finish(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            let mut done = self.done.clone();
            runtime.block_on(async move {
                let _ = done.wait_for(|done| *done).await;
            });
            runtime.shutdown_timeout(Duration::from_secs(1));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopper().stop();
        self.finish();
    }
}

/// Stops a server.
#[derive(Clone, Debug)]
pub struct Stopper(watch::Sender<bool>);

impl Stopper {
    /// No more connections are accepted, and requests in progress are answered.
    pub fn stop(&self) {
        let _ = self.0.send(true);
    }
}

async fn serve(listener: TcpListener, app: Arc<App>, mut stopped: watch::Receiver<bool>) {
    let router = api::router(Arc::clone(&app));
    let connections = Arc::new(Semaphore::new(app.options.limits.max_connections));
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            _ = stopped.wait_for(|stopped| *stopped) => break,
            accepted = accept(&listener, &connections) => accepted,
        };
        match accepted {
            Ok((stream, client, permit)) => {
                let answering = connection(stream, client, router.clone(), &app, &graceful);
                tokio::spawn(async move {
                    answering.await;
                    drop(permit);
                });
            }
            // Too many open files, or a client that is gone already.
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
    drop(listener);
    tokio::select! {
        () = graceful.shutdown() => {}
        () = tokio::time::sleep(app.options.limits.shutdown_timeout) => {
            (app.options.log)("stopped before all requests were answered");
        }
    }
}

type Accepted = (TcpStream, SocketAddr, tokio::sync::OwnedSemaphorePermit);

/// The next connection, once there is room for it.
async fn accept(listener: &TcpListener, connections: &Arc<Semaphore>) -> std::io::Result<Accepted> {
    let permit = Arc::clone(connections).acquire_owned().await.map_err(std::io::Error::other)?;
    let (stream, client) = listener.accept().await?;
    Ok((stream, client, permit))
}

/// Answers the requests of a connection.
fn connection(
    stream: TcpStream,
    client: SocketAddr,
    router: Router,
    app: &App,
    graceful: &GracefulShutdown,
) -> impl Future<Output = ()> + use<> {
    // Answers are small and complete: none should wait for more to come.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(Client(client.ip()));
        let mut router = router.clone();
        async move { router.call(request.map(Body::new)).await as Result<_, Infallible> }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(app.options.limits.header_timeout);
    let stream = WriteTimeout::new(stream, app.options.limits.write_timeout);
    let answering = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
    async move {
        // What is wrong with a connection is the client's business.
        let _ = answering.await;
    }
}

/// Looks at the model files from time to time.
async fn watch_files(app: Arc<App>, mut stopped: watch::Receiver<bool>) {
    let Some(interval) = app.options.watch else { return };
    loop {
        tokio::select! {
            _ = stopped.wait_for(|stopped| *stopped) => return,
            () = tokio::time::sleep(interval) => {}
        }
        let app = Arc::clone(&app);
        let look = move || {
            for slot in app.models.slots().iter().filter(|slot| slot.changed()) {
                app.reload(slot);
            }
        };
        let _ = tokio::task::spawn_blocking(look).await;
    }
}
