package boundary_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// brain is a model server with OpenAI's wire format. It runs in the test process, so that it
// survives all kills. It records each request byte for byte.
type brain struct {
	t      *testing.T
	server *httptest.Server
	says   script
	// config is the text of agentd.yaml, in which $URL is the address of the models. Empty: agentd has
	// flags for one model.
	config string
	// breaks reports whether a model is overloaded in the middle of its response to a prompt's turn.
	// Nil: none is.
	breaks func(model, prompt string, turn int) bool

	mu    sync.Mutex
	asked map[int]string // request body by turn, from 1
	times int            // number of requests
}

// script returns the conversation that begins with a prompt: the calls of each turn, the final
// text, and the offset of its turns in the numbering of all conversations. found contains the
// results that the model has read, by call id.
type script func(prompt string, found map[string]string) (list [][]ask, last string, base int)

// message is the part of a message on the wire that the tests read.
type message struct {
	Role       string `json:"role"`
	Content    any    `json:"content"`
	ToolCallID string `json:"tool_call_id"`
}

func newBrain(t *testing.T) *brain {
	t.Helper()
	b := &brain{t: t, asked: make(map[int]string), says: countingStory}
	b.server = httptest.NewServer(http.HandlerFunc(b.answer))
	t.Cleanup(b.server.Close)
	return b
}

func messagesOf(body string) (messages []message, err error) {
	request, err := requestOf(body)
	return request.Messages, err
}

// wireRequest is the part of a request that the tests read.
type wireRequest struct {
	Model    string    `json:"model"`
	Messages []message `json:"messages"`
}

func requestOf(body string) (request wireRequest, err error) {
	return request, json.Unmarshal([]byte(body), &request)
}

// textOfPrompt returns the text of a message, which has several parts if files are attached.
func textOfPrompt(content any) string {
	parts, _ := content.([]any)
	for _, part := range parts {
		if p, ok := part.(map[string]any); ok && p["type"] == "text" {
			return fmt.Sprint(p["text"])
		}
	}
	return fmt.Sprint(content)
}

// answer sends the turn that follows the assistant's messages in the request. The same request
// receives the same answer, also from an agentd that was started again.
func (b *brain) answer(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return // agentd has closed the connection
	}
	request, err := requestOf(string(data))
	if err != nil {
		b.t.Errorf("the model was sent no JSON: %v\n%s", err, data)
	}
	turn, found, prompt := 1, make(map[string]string), ""
	for _, m := range request.Messages {
		switch m.Role {
		case "user":
			if prompt == "" {
				prompt = textOfPrompt(m.Content)
			}
		case "assistant":
			turn++
		case "tool":
			found[m.ToolCallID] = fmt.Sprint(m.Content)
		}
	}
	list, last, base := b.says(prompt, found)
	if request.Model == fallbackModel {
		base += fallbackBase
	}
	b.note(base+turn, string(data))
	if turn > len(list) {
		http.Error(w, "the script is over", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	text := fmt.Sprintf("turn %d", turn)
	if turn == len(list) {
		text = last
	}
	if b.breaks != nil && b.breaks(request.Model, prompt, turn) {
		overload(w, text, list[turn-1])
		return
	}
	stream(w, text, list[turn-1])
}

// The requests of the fallback are numbered from fallbackBase on, so that they are told apart from
// those of the first model, which have the same messages.
const (
	fallbackModel = "small"
	fallbackBase  = 1000
)

func (b *brain) note(turn int, body string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.times++
	if before, ok := b.asked[turn]; ok && before != body {
		b.t.Errorf("turn %d was asked for twice, with other words:\n%s\n%s", turn, before, body)
	}
	b.asked[turn] = body
}

// seen returns the request of each turn, from 1, without the messages of timeouts.
func (b *brain) seen() map[int]string {
	b.mu.Lock()
	defer b.mu.Unlock()
	seen := make(map[int]string, len(b.asked))
	for turn, body := range b.asked {
		seen[turn] = untimed(body)
	}
	return seen
}

type object = map[string]any

// send writes one chunk of a response.
func send(w io.Writer, chunk object) {
	data, err := json.Marshal(chunk)
	if err == nil {
		_, err = fmt.Fprintf(w, "data: %s\n\n", data)
	}
	_ = err // agentd has closed the connection
}

func chunkOf(delta object, finish any) object {
	return object{
		"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
		"choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}},
	}
}

// overload writes a response that breaks off in the first call, because the server is overloaded.
func overload(w io.Writer, text string, asks []ask) {
	send(w, chunkOf(object{"role": "assistant", "content": text}, nil))
	send(w, chunkOf(object{"tool_calls": []object{{
		"index": 0, "id": asks[0].id, "type": "function", "function": object{"name": asks[0].tool, "arguments": asks[0].arguments[:len(asks[0].arguments)/2]},
	}}}, nil))
	send(w, object{"error": object{"message": "busy", "type": "server_error", "code": "server_is_overloaded"}})
}

// stream writes a response in pieces, with the arguments of each call in two parts, as model
// servers do. Each response uses 20 tokens and writes 3.
func stream(w io.Writer, text string, asks []ask) {
	chunk := func(delta object, finish any) { send(w, chunkOf(delta, finish)) }
	chunk(object{"role": "assistant", "content": text}, nil)
	for i, a := range asks {
		half := len(a.arguments) / 2
		chunk(object{"tool_calls": []object{{
			"index": i, "id": a.id, "type": "function", "function": object{"name": a.tool, "arguments": a.arguments[:half]},
		}}}, nil)
		chunk(object{"tool_calls": []object{{"index": i, "function": object{"arguments": a.arguments[half:]}}}}, nil)
	}
	finish := "stop"
	if len(asks) > 0 {
		finish = "tool_calls"
	}
	chunk(object{}, finish)
	used := chunkOf(nil, nil)
	used["choices"], used["usage"] = []object{}, object{"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23}
	send(w, used)
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}
