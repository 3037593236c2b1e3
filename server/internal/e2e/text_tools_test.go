package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
)

// plainChat is a server of the Chat Completions API whose model cannot call functions. It refuses
// requests with tools. Its responses come in order, in pieces of three bytes.
type plainChat struct {
	*httptest.Server
	// paused are the channels that the server waits for, by a mark in a response. It does not send the
	// mark.
	paused map[string]chan struct{}

	mu        sync.Mutex
	responses []string
	requests  []string
}

// plainRequest is the part of a request that the server reads.
type plainRequest struct {
	Tools    []json.RawMessage `json:"tools"`
	Messages []struct {
		Role      string            `json:"role"`
		Content   string            `json:"content"`
		ToolCalls []json.RawMessage `json:"tool_calls"`
	} `json:"messages"`
}

func servePlainChat(t *testing.T, responses ...string) *plainChat {
	t.Helper()
	s := &plainChat{responses: responses, paused: make(map[string]chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req plainRequest
		body, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(body, &req) != nil {
			http.Error(w, `{"error": {"message": "the request cannot be read"}}`, http.StatusBadRequest)
			return
		}
		for _, m := range req.Messages {
			if m.Role == "tool" || len(m.ToolCalls) > 0 {
				req.Tools = append(req.Tools, nil)
			}
		}
		if len(req.Tools) > 0 {
			http.Error(w, `{"error": {"message": "this model does not support tools"}}`, http.StatusBadRequest)
			return
		}
		last := req.Messages[len(req.Messages)-1]
		s.mu.Lock()
		s.requests = append(s.requests, last.Content)
		response := s.responses[0]
		s.responses = s.responses[1:]
		s.mu.Unlock()
		s.stream(w, r, response)
	}))
	t.Cleanup(s.Close)
	return s
}

// pause makes the server wait at a mark until the channel is closed.
func (s *plainChat) pause(mark string) chan struct{} {
	proceed := make(chan struct{})
	s.paused[mark] = proceed
	return proceed
}

func (s *plainChat) stream(w http.ResponseWriter, r *http.Request, response string) {
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w).Flush
	send := func(text string) {
		for text != "" && r.Context().Err() == nil {
			n := min(3, len(text))
			piece, err := json.Marshal(text[:n])
			if err != nil {
				return
			}
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", piece)
			text = text[n:]
		}
		_ = flush()
	}
	for mark, proceed := range s.paused {
		before, after, found := strings.Cut(response, mark)
		if !found {
			continue
		}
		send(before)
		select {
		case <-proceed:
		case <-r.Context().Done():
			return
		}
		response = after
	}
	send(response)
	fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

func (s *plainChat) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

// runPlain runs agentd with the model of a plainChat, and passes each event to seen.
func (h *toolhost) runPlain(t *testing.T, ctx context.Context, s *plainChat, seen func(e runEvent)) {
	t.Helper()
	config := filepath.Join(h.home, "agentd.yaml")
	write(t, config, "model: small\nmodels:\n  small: {provider: openai, model: plain, base_url: \""+s.URL+"/v1\", tools: text}\n", 0o600)
	cmd := command(ctx, h.home, nil, "agentd", "run", "--config", config, "--toolhost", h.addr, "-o", "json", "go")
	stderr := &syncbuf.Buffer{}
	cmd.Stderr = stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e runEvent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Errorf("%s: %v", lines.Text(), err)
		}
		seen(e)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
}

// A model without function calling writes its calls as text. A tool sees the arguments while the
// model writes them. A call that is not closed is not executed, although the tool has seen it: the
// model is told so, and writes it again. Its results go back as text.
func TestModelWithoutFunctionCallingUsesTools(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	installStamped(t, h, "1", "", "")
	h.serve(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s := servePlainChat(t,
		"I write.\n<use_tool name=\"versionplugin_draft\">\n<tool_arg name=\"file\">written</tool_arg>\n<tool_arg name=\"text\">good evening[1]",
		"Again:\n<use_tool name=\"versionplugin_draft\">\n<tool_arg name=\"file\">written</tool_arg>\n<tool_arg name=\"text\">good mor[2]ning</tool_arg>\n</use_tool>",
		"It is written.")
	unclosed, closed := s.pause("[1]"), s.pause("[2]")

	drafters := make(map[string]string) // by what they saw
	var answer, final string
	h.runPlain(t, ctx, s, func(e runEvent) {
		name, seen, _ := strings.Cut(e.Message, " ")
		switch {
		case e.Type == "call_status" && strings.HasPrefix(seen, "good evening") && drafters["evening"] == "":
			drafters["evening"] = name
			close(unclosed)
		case e.Type == "call_status" && strings.HasPrefix(seen, "good mor") && drafters["morning"] == "":
			drafters["morning"] = name
			close(closed)
		case e.Type == "call_result":
			answer = e.Text
		case e.Type == "assistant_message":
			final = e.Text
		}
	})
	if got := h.written(t); got != "good morning 1\n" {
		t.Errorf("the tool wrote %q", got)
	}
	if drafters["morning"] == "" || drafters["evening"] == drafters["morning"] || answer != drafters["morning"] {
		t.Errorf("the call was executed by %q; its arguments were shown to %v", answer, drafters)
	}
	if final != "It is written." {
		t.Errorf("the run ended with %q", final)
	}
	asked := s.asked()
	if len(asked) != 3 {
		t.Fatalf("the server got %d requests: %q", len(asked), asked)
	}
	if again := asked[1]; !strings.Contains(again, `the call of "versionplugin_draft" was not closed with </use_tool>`) {
		t.Errorf("after the unclosed call, the model reads %q", again)
	}
	if result := "<tool_result name=\"versionplugin_draft\" call=\"1\">\n" + answer + "\n</tool_result>"; asked[2] != result {
		t.Errorf("after the call, the model reads %q, want %q", asked[2], result)
	}
}
