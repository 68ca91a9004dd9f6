//! Connections whose clients must read what they asked for.

use std::future::Future;
use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// A stream whose writes fail when the other side has not taken everything that was to be written within a time.
///
/// The time counts from the first write that had to wait until everything is written, and not from one write to the next: a
/// client that reads a byte now and then is as slow as one that reads nothing.
pub(crate) struct WriteTimeout<S> {
    stream: S,
    limit: Duration,
    timer: Pin<Box<Sleep>>,
    waiting: bool,
}

impl<S> WriteTimeout<S> {
    pub fn new(stream: S, limit: Duration) -> Self {
        Self { stream, limit, timer: Box::pin(sleep(limit)), waiting: false }
    }

    /// What a write came to, or an error if it has to wait and there is no time left.
    fn within_limit<T>(&mut self, written: Poll<Result<T>>, context: &mut Context<'_>) -> Poll<Result<T>> {
        if written.is_pending() {
            if !self.waiting {
                self.waiting = true;
                self.timer.as_mut().reset(Instant::now() + self.limit);
            }
            ready!(self.timer.as_mut().poll(context));
            return Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the client doesn't read its answer")));
        }
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.within_limit(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.within_limit(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Called when nothing is left to write.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        if flushed.is_ready() {
            self.waiting = false;
        }
        self.within_limit(flushed, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    /// Takes one byte every five milliseconds.
    struct SlowReader(Pin<Box<Sleep>>);

    impl AsyncWrite for SlowReader {
        fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, _: &[u8]) -> Poll<Result<usize>> {
            ready!(self.0.as_mut().poll(context));
            self.0.as_mut().reset(Instant::now() + Duration::from_millis(5));
            Poll::Ready(Ok(1))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    /// The number of bytes that are taken, and the error that ends them.
    fn written(bytes: usize, flushed: bool) -> (usize, Option<ErrorKind>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let reader = SlowReader(Box::pin(sleep(Duration::from_millis(5))));
            let mut stream = WriteTimeout::new(reader, Duration::from_millis(100));
            for number in 0..bytes {
                if let Err(error) = poll_fn(|context| Pin::new(&mut stream).poll_write(context, b"x")).await {
                    return (number, Some(error.kind()));
                }
                if flushed {
                    poll_fn(|context| Pin::new(&mut stream).poll_flush(context)).await.unwrap();
                }
            }
            (bytes, None)
        })
    }

    #[test]
    fn one_answer_has_one_limit_however_it_trickles() {
        let (bytes, error) = written(1000, false);
        assert!(bytes <= 25 && error == Some(ErrorKind::TimedOut), "{bytes}, {error:?}");
        // Answers that are taken in time may follow each other for as long as the client likes.
        assert_eq!(written(40, true), (40, None));
    }
}
