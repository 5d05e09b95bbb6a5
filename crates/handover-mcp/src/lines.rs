//! Preprocesses what a client sends over standard input, before the SDK reads it.
//!
//! The SDK ignores a line it cannot parse: without an id there is no one to respond to. Two kinds of lines
//! do have an id. A line with half of a surrogate pair is repaired; a line that is nested too deeply gets
//! an error response.

use rmcp::RoleServer;
use rmcp::model::{ErrorData, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::DEFAULT_MAX_LINE_LENGTH;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader, DuplexStream, duplex};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use handover_text::replace_in_bytes;

/// How much of a line is passed on at a time.
const PIPE_BYTES: usize = 64 * 1024;

/// A request that cannot be parsed, but can get a response.
#[derive(Debug)]
pub(crate) struct Unreadable {
    id: RequestId,
    reason: String,
}

/// Passes on what the SDK can parse; reports the rest.
pub(crate) fn readable(
    input: impl AsyncRead + Send + Unpin + 'static,
) -> (DuplexStream, UnboundedReceiver<Unreadable>) {
    let (to, from) = duplex(PIPE_BYTES);
    let (report, reported) = unbounded_channel();
    tokio::spawn(pass_on(BufReader::new(input), to, report));
    (from, reported)
}

async fn pass_on(
    mut input: BufReader<impl AsyncRead + Unpin>,
    mut to: DuplexStream,
    report: UnboundedSender<Unreadable>,
) {
    let mut line = Vec::new();
    loop {
        let Ok(chunk) = input.fill_buf().await else { return };
        let ends = chunk.iter().position(|byte| *byte == b'\n');
        let taken = ends.map_or(chunk.len(), |at| at + 1);
        line.extend_from_slice(&chunk[..taken]);
        input.consume(taken);
        let is_over = taken == 0;
        // A longer line is left to the SDK to reject; it need not be buffered here.
        let is_long = line.len() > DEFAULT_MAX_LINE_LENGTH;
        if (ends.is_some() || is_over || is_long) && !line.is_empty() {
            match read(&line) {
                LineContent::Good if to.write_all(&line).await.is_err() => return,
                LineContent::Good => {}
                LineContent::Repaired(repaired) if to.write_all(&repaired).await.is_err() => return,
                LineContent::Repaired(_) => {}
                LineContent::Bad(unreadable) => drop(report.send(unreadable)),
            }
            line.clear();
        }
        if is_over {
            return;
        }
    }
}

enum LineContent {
    Good,
    Repaired(Vec<u8>),
    Bad(Unreadable),
}

fn read(line: &[u8]) -> LineContent {
    let Err(error) = serde_json::from_slice::<Value>(line) else { return LineContent::Good };
    if let Some(repaired) = replace_in_bytes(line)
        && serde_json::from_slice::<Value>(&repaired).is_ok()
    {
        return LineContent::Repaired(repaired);
    }
    /// Ignored values may be nested arbitrarily deeply.
    #[derive(Deserialize)]
    struct MessageHead {
        id: RequestId,
        #[serde(rename = "method")]
        _method: IgnoredAny,
    }
    match serde_json::from_slice::<MessageHead>(line) {
        Ok(head) => LineContent::Bad(Unreadable { id: head.id, reason: error.to_string() }),
        Err(_) => LineContent::Good,
    }
}

/// A transport that responds to requests that could not be parsed.
pub(crate) struct Answering<T> {
    inner: T,
    unreadable: UnboundedReceiver<Unreadable>,
}

impl<T> Answering<T> {
    pub(crate) fn new(inner: T, unreadable: UnboundedReceiver<Unreadable>) -> Self {
        Self { inner, unreadable }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Answering<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            tokio::select! {
                biased;
                Some(Unreadable { id, reason }) = self.unreadable.recv() => {
                    let error = ErrorData::parse_error(reason, None);
                    let answer = self.inner.send(TxJsonRpcMessage::<RoleServer>::error(error, Some(id)));
                    // In a separate task, because this future may be dropped.
                    tokio::spawn(async move { drop(answer.await) });
                }
                message = self.inner.receive() => return message,
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(depth: usize) -> String {
        let args = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        format!(r#"{{"jsonrpc":"2.0","method":"tools/call","params":{args},"id":7}}"#)
    }

    /// What is passed on when the input arrives in pieces, and what is reported.
    fn pass(pieces: &[&[u8]]) -> (Vec<u8>, Vec<Unreadable>) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (mut client, input) = duplex(7);
            let (mut output, mut reported) = readable(input);
            let pieces: Vec<Vec<u8>> = pieces.iter().map(|piece| piece.to_vec()).collect();
            tokio::spawn(async move {
                for piece in pieces {
                    client.write_all(&piece).await.unwrap();
                }
            });
            let mut passed = Vec::new();
            tokio::io::AsyncReadExt::read_to_end(&mut output, &mut passed).await.unwrap();
            let mut unreadable = Vec::new();
            while let Some(one) = reported.recv().await {
                unreadable.push(one);
            }
            (passed, unreadable)
        })
    }

    #[test]
    fn unreadable_lines_do_not_change_the_order_of_others() {
        let deep = nested(1_000);
        let named = deep.replace("\"id\":7", "\"id\":\"seven\"");
        let half = r#"{"id":1,"method":"x","params":"\ud83d"}"#;
        let repaired = half.replace("\\ud83d", "\u{fffd}");
        let input = format!("first\n{deep}\n\n{half}\r\n{named}\nlast, without an end");
        let (passed, unreadable) = pass(&[input.as_bytes()]);
        let passed = String::from_utf8(passed).unwrap();
        let lines: Vec<&str> = passed.split('\n').collect();
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert_eq!((lines[0], lines[1], lines[3]), ("first", "", "last, without an end"));
        let value = |line: &str| serde_json::from_str::<Value>(line).unwrap();
        assert_eq!(value(lines[2]), value(&repaired));
        let ids: Vec<RequestId> = unreadable.iter().map(|one| one.id.clone()).collect();
        assert_eq!(ids, [RequestId::Number(7), RequestId::String("seven".into())]);
        assert!(unreadable.iter().all(|one| one.reason.contains("recursion limit")));
    }

    #[test]
    fn pieces_of_any_size_are_the_same_lines() {
        let input = format!("{}\n{}\r\n", nested(3), "x".repeat(200_000));
        let whole = pass(&[input.as_bytes()]).0;
        assert_eq!(whole, input.as_bytes());
        for size in [1, 3, 63, 4_096] {
            let pieces: Vec<&[u8]> = input.as_bytes().chunks(size).collect();
            assert_eq!(pass(&pieces).0, whole, "pieces of {size} bytes");
        }
        assert_eq!(pass(&[]).0, b"");
    }

    #[test]
    fn a_line_without_an_end_is_not_held_back() {
        let endless = vec![b'['; DEFAULT_MAX_LINE_LENGTH + 100_000];
        let (passed, unreadable) = pass(&[&endless]);
        assert_eq!((passed.len(), unreadable.len()), (endless.len(), 0));
    }

    #[test]
    fn invalid_utf8_is_left_to_the_sdk() {
        let (passed, unreadable) = pass(&[b"\xff\xfe{\"id\":1}\n", b"{\"id\":\x00}\n"]);
        assert_eq!(passed, b"\xff\xfe{\"id\":1}\n{\"id\":\x00}\n");
        assert_eq!(unreadable.len(), 0);
    }

    #[test]
    fn lines_are_passed_on_repaired_or_answered() {
        assert!(matches!(read(nested(5).as_bytes()), LineContent::Good));
        assert!(matches!(read(b"nonsense"), LineContent::Good));
        assert!(
            matches!(read(br#"{"id":1,"method":"x""#), LineContent::Good),
            "no id to respond to"
        );
        assert!(matches!(read(nested(5_000).as_bytes()), LineContent::Bad(_)));
        let half = br#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"\ud83d"}}"#;
        assert!(matches!(read(half), LineContent::Repaired(_)));
    }
}
