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
	var request struct {
		Messages []message `json:"messages"`
	}
	err = json.Unmarshal([]byte(body), &request)
	return request.Messages, err
}

// answer sends the turn that follows the assistant's messages in the request. The same request
// receives the same answer, also from an agentd that was started again.
func (b *brain) answer(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return // agentd has closed the connection
	}
	messages, err := messagesOf(string(data))
	if err != nil {
		b.t.Errorf("the model was sent no JSON: %v\n%s", err, data)
	}
	turn, found, prompt := 1, make(map[string]string), ""
	for _, m := range messages {
		switch m.Role {
		case "user":
			if prompt == "" {
				prompt = fmt.Sprint(m.Content)
			}
		case "assistant":
			turn++
		case "tool":
			found[m.ToolCallID] = fmt.Sprint(m.Content)
		}
	}
	list, last, base := b.says(prompt, found)
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
	stream(w, text, list[turn-1])
}

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

// stream writes a response in pieces, with the arguments of each call in two parts, as model
// servers do.
func stream(w io.Writer, text string, asks []ask) {
	type object = map[string]any
	chunk := func(delta object, finish any) {
		data, err := json.Marshal(object{
			"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
			"choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}},
		})
		if err == nil {
			_, err = fmt.Fprintf(w, "data: %s\n\n", data)
		}
		_ = err // agentd has closed the connection
	}
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
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}
