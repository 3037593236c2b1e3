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

// brain is a model behind OpenAI's wire format. It lives in the test, so that it outlives all that is killed, and
// remembers each request to the byte.
type brain struct {
	t      *testing.T
	server *httptest.Server
	says   script

	mu    sync.Mutex
	asked map[int]string // the request of each turn, from 1
	times int            // how many requests came
}

// script returns what the model says in the conversation that begins with a prompt, turn by turn, the words that it ends
// with, and where its turns stand among those of all conversations. found are the results that it has read so far.
type script func(prompt string, found map[string]string) (list [][]ask, last string, base int)

// message is what is read of a message on the wire.
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

// answer answers with the turn that comes after the assistant's messages in the request: the same question has the
// same answer, in whatever life of agentd it is asked.
func (b *brain) answer(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return // whoever asked is gone
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

// seen returns the request of each turn, from 1, untimed.
func (b *brain) seen() map[int]string {
	b.mu.Lock()
	defer b.mu.Unlock()
	seen := make(map[int]string, len(b.asked))
	for turn, body := range b.asked {
		seen[turn] = untimed(body)
	}
	return seen
}

// stream writes a response as a server does: piece by piece, arguments cut in two.
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
		_ = err // whoever asked is gone
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
