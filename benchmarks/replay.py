"""A server in a process of its own that streams one reply of many tokens. Prints its port; its argument is how many."""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def chunks(tokens: int) -> bytes:
    """The reply as a server of the chat dialect streams it."""
    deltas = [{"role": "assistant"}, *({"content": f" word{number}"} for number in range(tokens)), {}]
    lines = [_line(delta, "stop" if delta == {} else None) for delta in deltas]
    return b"".join(lines) + b"data: [DONE]\n\n"


def _line(delta: dict[str, str], finish: str | None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {"id": "r", "object": "chat.completion.chunk", "created": 1, "model": "bench", "choices": [choice]}
    return f"data: {json.dumps(chunk)}\n\n".encode()


class Replay(BaseHTTPRequestHandler):
    """Answers every POST with the reply, in pieces of 16 kB."""

    reply = b""
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Stream the reply and close."""
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for start in range(0, len(self.reply), 16_384):
            self.wfile.write(self.reply[start : start + 16_384])
        self.close_connection = True

    def do_GET(self) -> None:
        """The models there are: one."""
        body = b'{"object": "list", "data": [{"id": "bench", "object": "model"}]}'
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - so it is called there
        """Say nothing."""


if __name__ == "__main__":
    Replay.reply = chunks(int(sys.argv[1]))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Replay)
    print(server.server_address[1], flush=True)
    server.serve_forever()
