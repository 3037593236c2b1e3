"""A model server for the comparison: it speaks OpenAI's Chat Completions API and follows a script.

The script: find the order, refund it, add a note, answer. Usage: model.py PORT
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ANSWER = {"order": "order-17", "refunded": 40, "reason": "arrived broken"}
CALLS = {
    "find_order": {"order": "order-17"},
    "refund": {"order": "order-17", "amount": 40},
    "add_note": {"order": "order-17", "text": "refunded"},
}


def respond(request: dict) -> dict:
    """Returns the next message of the script."""
    made = [c["function"]["name"] for m in request["messages"] for c in m.get("tool_calls") or []]
    for name, arguments in CALLS.items():
        if name not in made:
            return call(len(made), name, arguments)
    others = [t["function"]["name"] for t in request.get("tools", [])]
    for name in ("Answer", "final_result", "final_answer"):  # the tools that frameworks offer for answers
        if name in others and "response_format" not in request:
            return call(len(made), name, ANSWER)
    return {"role": "assistant", "content": json.dumps(ANSWER)}


def call(number: int, name: str, arguments: dict) -> dict:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "tool_calls": [{"index": 0, "id": f"call_{number}", "type": "function", "function": function}]}


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = respond(request)
        stop = "tool_calls" if "tool_calls" in message else "stop"
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        whole = {"id": "c", "created": 1, "model": request["model"]}
        if not request.get("stream"):
            whole |= {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": stop}], "usage": usage}
            return self.send("application/json", json.dumps(whole))
        whole["object"] = "chat.completion.chunk"
        chunks = [
            whole | {"choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            whole | {"choices": [{"index": 0, "delta": {}, "finish_reason": stop}]},
            whole | {"choices": [], "usage": usage},
        ]
        self.send("text/event-stream", "".join(f"data: {json.dumps(c)}\n\n" for c in chunks) + "data: [DONE]\n\n")

    def send(self, kind: str, body: str):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
