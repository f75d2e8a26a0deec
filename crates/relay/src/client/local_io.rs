//! Blocking input and output of a stream, each on a thread of its own.

use std::{
    io::{self, Read, Write},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, Receiver, Sender, TryRecvError, sync_channel},
    },
};

use mio::Waker;

use crate::client::{identity::ClientError, reliable::ReliableStream};

/// Bytes read from the input at once.
const READ_BYTES: usize = 8 << 10;

/// Messages from the thread that reads the input.
enum Input {
    Bytes(Vec<u8>),
    End,
    Failed(io::Error),
}

/// The event loop's view of both threads.
pub(super) struct LocalIo {
    input: Receiver<Input>,
    /// `None` once everything was handed to the output.
    pub(super) output: Option<Sender<Vec<u8>>>,
    pub(super) written: Arc<AtomicU64>,
    failed: Receiver<io::Error>,
    pub(super) sent: u64,
}

impl LocalIo {
    pub(super) fn start(
        mut input: impl Read + Send + 'static,
        mut output: impl Write + Send + 'static,
        waker: &Arc<Waker>,
    ) -> io::Result<LocalIo> {
        let (input_sender, input_receiver) = sync_channel(4);
        let wake = waker.clone();
        std::thread::Builder::new().name("input".into()).spawn(move || {
            loop {
                let mut bytes = vec![0; READ_BYTES];
                let event = match input.read(&mut bytes) {
                    Ok(0) => Input::End,
                    Ok(length) => {
                        bytes.truncate(length);
                        Input::Bytes(bytes)
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => Input::Failed(error),
                };
                let last = !matches!(event, Input::Bytes(_));
                let gone = input_sender.send(event).is_err();
                let _ = wake.wake();
                if last || gone {
                    break;
                }
            }
        })?;
        let (output_sender, output_receiver) = mpsc::channel::<Vec<u8>>();
        let (failure, failed) = mpsc::channel();
        let written = Arc::new(AtomicU64::new(0));
        let (wake, count) = (waker.clone(), written.clone());
        std::thread::Builder::new().name("output".into()).spawn(move || {
            for bytes in output_receiver {
                if let Err(error) = output.write_all(&bytes).and_then(|()| output.flush()) {
                    // The transfer ends with this error
                    let _ = failure.send(error);
                    let _ = wake.wake();
                    break;
                }
                count.fetch_add(bytes.len() as u64, Ordering::Release);
                let _ = wake.wake();
            }
        })?;
        Ok(LocalIo { input: input_receiver, output: Some(output_sender), written, failed, sent: 0 })
    }

    /// Moves data that was read into the stream, and tells the stream how much was written.
    pub(super) fn feed(&mut self, stream: &mut ReliableStream) -> Result<(), ClientError> {
        if let Ok(error) = self.failed.try_recv() {
            return Err(ClientError::Output(error));
        }
        stream.written(self.written.load(Ordering::Acquire));
        if stream.has_all() {
            self.output = None;
        }
        while stream.room() > 0 {
            match self.input.try_recv() {
                Ok(Input::Bytes(bytes)) => {
                    self.sent += bytes.len() as u64;
                    stream.offer(&bytes);
                }
                Ok(Input::End) => stream.end(),
                // An input that waits for the output fails together with it; the output's error is then the cause
                Ok(Input::Failed(error)) => {
                    return Err(self.failed.try_recv().map_or(ClientError::Input(error), ClientError::Output));
                }
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
            }
        }
        Ok(())
    }
}
