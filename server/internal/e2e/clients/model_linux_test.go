//go:build clients

package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// object is JSON, as a request has it and an answer gets it.
type object = map[string]any

// call is a call of a tool, by the name that the client gave it.
type call struct {
	id, name  string
	namespace string // of the Responses API
	arguments object
}

// request is what a model learns from a request.
type request struct {
	tools   []call   // their names
	results []string // what the tools returned so far, in order, as JSON
}

// dialect is the API of a model provider.
type dialect struct {
	path string // of its requests; a part of it
	read func(body object) request
	// answer returns the events of an answer: a call, or a text if c is nil.
	answer func(c *call, text string) []object
	named  bool   // an event has the name of its type
	end    string // behind the events
}

// model is the server of a model. next returns the answer to a request of the conversation. A
// client also sends other requests, such as for a title. They offer no tools of toolhost, and get a
// text. Every answer is a stream, because every request of these clients wants one.
type model struct {
	dialect dialect
	next    func(r request) (c *call, text string)

	mu   sync.Mutex // one request at a time
	seen []string   // for a failure: the paths, and what was answered
}

// ServeHTTP implements http.Handler.
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text, _ := io.ReadAll(r.Body) // a broken body is no JSON
	var body object
	if r.Method != http.MethodPost || !strings.Contains(r.URL.Path, m.dialect.path) || json.Unmarshal(text, &body) != nil {
		m.seen = append(m.seen, fmt.Sprintf("%s %s: 404", r.Method, r.URL.Path))
		http.NotFound(w, r)
		return
	}
	asked := m.dialect.read(body)
	answer, said := (*call)(nil), "fine"
	if len(asked.tools) > 0 {
		answer, said = m.next(asked)
	}
	last := ""
	if n := len(asked.results); n > 0 {
		last = asked.results[n-1]
	}
	m.seen = append(m.seen, fmt.Sprintf("%s with %d tools and %d results, the last one %s: %+v %s", r.URL.Path, len(asked.tools), len(asked.results), last, answer, said))
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range m.dialect.answer(answer, said) {
		if m.dialect.named {
			fmt.Fprintf(w, "event: %s\n", event["type"])
		}
		fmt.Fprintf(w, "data: %s\n\n", encoded(event))
	}
	_, _ = io.WriteString(w, m.dialect.end)
}

// encoded returns a value of JSON as text, with all characters as they are.
func encoded(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // it was JSON
	return bytes.TrimSpace(b.Bytes())
}

// items returns the objects in a list at a key.
func items(o object, key string) []object {
	var all []object
	list, _ := o[key].([]any)
	for _, v := range list {
		if v, ok := v.(object); ok {
			all = append(all, v)
		}
	}
	return all
}

// at returns the object at a key, or an empty one.
func at(o object, key string) object { v, _ := o[key].(object); return v }

// ours returns a tool if it is one of toolhost. Clients begin the name with that of the server.
func ours(c call) []call {
	if strings.Contains(c.namespace+c.name, "toolhost") {
		return []call{c}
	}
	return nil
}

// text returns the text at a key, or none.
func text(o object, key string) string { s, _ := o[key].(string); return s }

// anthropic is the Messages API.
var anthropic = dialect{
	path: "/v1/messages", named: true,
	read: func(body object) (r request) {
		for _, t := range items(body, "tools") {
			r.tools = append(r.tools, ours(call{name: text(t, "name")})...)
		}
		for _, m := range items(body, "messages") {
			for _, c := range items(m, "content") {
				if c["type"] == "tool_result" {
					r.results = append(r.results, string(encoded(c["content"])))
				}
			}
		}
		return r
	},
	answer: func(c *call, said string) []object {
		block, delta, reason := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": said}, "end_turn"
		if c != nil {
			block = object{"type": "tool_use", "id": c.id, "name": c.name, "input": object{}}
			delta, reason = object{"type": "input_json_delta", "partial_json": string(encoded(c.arguments))}, "tool_use"
		}
		return []object{
			{"type": "message_start", "message": object{"id": "msg_1", "type": "message", "role": "assistant", "model": "fake", "content": []any{}, "usage": anthropicUsage}},
			{"type": "content_block_start", "index": 0, "content_block": block},
			{"type": "content_block_delta", "index": 0, "delta": delta},
			{"type": "content_block_stop", "index": 0},
			{"type": "message_delta", "delta": object{"stop_reason": reason}, "usage": anthropicUsage},
			{"type": "message_stop"},
		}
	},
}

var anthropicUsage = object{"input_tokens": 1, "output_tokens": 1}

// responses is the Responses API of OpenAI.
var responses = dialect{
	path: "/responses", named: true,
	read: func(body object) (r request) {
		for _, t := range items(body, "tools") {
			if t["type"] == "namespace" {
				for _, inner := range items(t, "tools") {
					r.tools = append(r.tools, ours(call{name: text(inner, "name"), namespace: text(t, "name")})...)
				}
			} else {
				r.tools = append(r.tools, ours(call{name: text(t, "name")})...)
			}
		}
		for _, i := range items(body, "input") {
			if i["type"] == "function_call_output" {
				r.results = append(r.results, string(encoded(i["output"])))
			}
		}
		return r
	},
	answer: func(c *call, said string) []object {
		item := object{"type": "message", "role": "assistant", "id": "m1", "content": []any{object{"type": "output_text", "text": said}}}
		if c != nil {
			item = object{"type": "function_call", "id": "f" + c.id, "call_id": c.id, "name": c.name, "arguments": string(encoded(c.arguments))}
			if c.namespace != "" {
				item["namespace"] = c.namespace
			}
		}
		return []object{
			{"type": "response.created", "response": object{"id": "r1"}},
			{"type": "response.output_item.done", "output_index": 0, "item": item},
			{"type": "response.completed", "response": object{"id": "r1", "usage": object{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}},
		}
	},
}

// gemini is the API of Gemini.
var gemini = dialect{
	path: "/models/",
	read: func(body object) (r request) {
		for _, t := range items(body, "tools") {
			for _, f := range items(t, "functionDeclarations") {
				r.tools = append(r.tools, ours(call{name: text(f, "name")})...)
			}
		}
		for _, c := range items(body, "contents") {
			for _, p := range items(c, "parts") {
				if f := at(p, "functionResponse"); f != nil {
					r.results = append(r.results, string(encoded(f["response"])))
				}
			}
		}
		return r
	},
	answer: func(c *call, said string) []object {
		part := object{"text": said}
		if c != nil {
			part = object{"functionCall": object{"id": c.id, "name": c.name, "args": c.arguments}}
		}
		return []object{{
			"candidates":    []any{object{"index": 0, "finishReason": "STOP", "content": object{"role": "model", "parts": []any{part}}}},
			"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
		}}
	},
}

// chat is the chat completions API of OpenAI.
var chat = dialect{
	path: "/chat/completions", end: "data: [DONE]\n\n",
	read: func(body object) (r request) {
		for _, t := range items(body, "tools") {
			r.tools = append(r.tools, ours(call{name: text(at(t, "function"), "name")})...)
		}
		for _, m := range items(body, "messages") {
			if m["role"] == "tool" {
				r.results = append(r.results, string(encoded(m["content"])))
			}
		}
		return r
	},
	answer: func(c *call, said string) []object {
		delta, reason := object{"role": "assistant", "content": said}, "stop"
		if c != nil {
			function := object{"name": c.name, "arguments": string(encoded(c.arguments))}
			delta, reason = object{"role": "assistant", "tool_calls": []any{object{"index": 0, "id": c.id, "type": "function", "function": function}}}, "tool_calls"
		}
		chunk := func(delta object, reason any) object {
			return object{"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "fake", "choices": []any{object{"index": 0, "delta": delta, "finish_reason": reason}}}
		}
		return []object{chunk(delta, nil), chunk(object{}, reason)}
	},
}
