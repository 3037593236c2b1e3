package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
	"github.com/toolhost/toolhost/server/internal/e2e/programs"
	"github.com/toolhost/toolhost/server/internal/testkit/agentmessages"
)

// served is a running `agentd serve`.
type served struct {
	*agentmessages.Client
	cmd    *exec.Cmd
	exited <-chan struct{} // closed when the process has ended
	log    *syncbuf.Buffer
	start  func() *exec.Cmd
}

// agentdServe starts an `agentd serve` with the toolhost's tools, and stops it at the end of the
// test.
func (h *toolhost) agentdServe(t *testing.T, flags ...string) *served {
	t.Helper()
	addr := "unix://" + filepath.Join(h.home, "a.sock")
	args := append([]string{"serve", "--listen", addr, "--toolhost", h.addr, "--journal", filepath.Join(h.home, "runs.db")}, flags...)
	s := &served{log: &syncbuf.Buffer{}, start: func() *exec.Cmd { return command(context.Background(), h.home, nil, "agentd", args...) }}
	s.live(t)
	a, err := agentmessages.Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	s.Client = a
	t.Cleanup(func() {
		a.Close()
		s.cmd.Process.Signal(syscall.SIGTERM)
		<-s.exited
		if t.Failed() {
			t.Logf("agentd's log:\n%s", s.log)
		}
	})
	return s
}

// live starts agentd.
func (s *served) live(t *testing.T) {
	t.Helper()
	s.cmd = s.start()
	s.cmd.Stderr = s.log
	line, exited, err := programs.Start(s.cmd)
	if err != nil {
		t.Fatal(err)
	}
	s.exited = exited
	if !strings.Contains(line, "ready at") {
		t.Fatalf("agentd says %q\n%s", line, s.log)
	}
}

// kill sends SIGKILL to agentd.
func (s *served) kill() {
	s.cmd.Process.Kill()
	<-s.exited
}

// story returns a run's durable events after a position, to the end of the run or to the first
// event for which enough returns true.
func (s *served) story(t *testing.T, runID string, after uint64, enough func(*agentdv1.RunEvent) bool) []*agentdv1.RunEvent {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var events []*agentdv1.RunEvent
	for e, err := range s.WatchRun(ctx, runID, after) {
		if err != nil {
			t.Fatalf("watching %s: %v", runID, err)
		}
		if e.GetIndex() > 0 {
			continue
		}
		if events = append(events, e); enough != nil && enough(e) {
			break
		}
	}
	return events
}

// mind is a model server with OpenAI's wire format. It outlives agentd.
type mind struct {
	url string

	mu    sync.Mutex
	asked []thought
}

// thought has the fields of a model request that the tests use.
type thought struct {
	Messages []struct {
		Role       string
		Content    any
		ToolCallID string `json:"tool_call_id"`
		ToolCalls  []struct {
			ID string
		} `json:"tool_calls"`
	}
	raw   string
	Tools []struct {
		Function struct {
			Name, Description string
			Parameters        json.RawMessage
		}
	}
}

// newMind returns a model that answers with a text, or with the calls in answer's JSON.
func newMind(t *testing.T, answer func(thought) (text, calls string)) *mind {
	t.Helper()
	m := &mind{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked thought
		data, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(data, &asked) != nil {
			return // the client has disconnected
		}
		asked.raw = string(data)
		m.mu.Lock()
		m.asked = append(m.asked, asked)
		m.mu.Unlock()
		checkPairs(t, asked)
		text, calls := answer(asked)
		if r.Context().Err() != nil {
			return
		}
		quoted, _ := json.Marshal(text)
		delta, finish := fmt.Sprintf(`{"content":%s}`, quoted), "stop"
		if calls != "" {
			delta, finish = fmt.Sprintf(`{"content":%s,"tool_calls":%s}`, quoted, calls), "tool_calls"
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", delta, finish)
	}))
	t.Cleanup(server.Close)
	m.url = server.URL + "/v1"
	return m
}

// flags are the flags with which agentd uses this model.
func (m *mind) flags() []string { return []string{"--model", "openai:mind", "--base-url", m.url} }

func (m *mind) thoughts() []thought {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked
}

// call returns one call in the form of a model response.
func call(id, tool, arguments string) string {
	quoted, _ := json.Marshal(arguments)
	return fmt.Sprintf(`[{"index":0,"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}]`, id, tool, quoted)
}

// checkPairs fails the test unless each call is followed by exactly its result.
func checkPairs(t *testing.T, asked thought) {
	open := map[string]bool{}
	for i, m := range asked.Messages {
		if m.Role == "tool" {
			if !open[m.ToolCallID] {
				t.Errorf("message %d is a result of %q, which no call before it wants", i, m.ToolCallID)
			}
			delete(open, m.ToolCallID)
			continue
		}
		if len(open) > 0 {
			t.Errorf("message %d comes before the results of %v", i, open)
		}
		for _, c := range m.ToolCalls {
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		t.Errorf("the calls %v have no results", open)
	}
}

// A run's model sees a dynamic tool in the form that the run's calls are validated against. The
// tool runs in the trace that the run's events name.
func TestModelsGetSchemasThatTheirCallsFit(t *testing.T) {
	h := prepare(t)
	if err := os.Symlink(filepath.Join(bin, "dynamicplugin"), filepath.Join(h.plugins, "dynamicplugin")); err != nil {
		t.Fatal(err)
	}
	h.serve(t)
	file := filepath.Join(h.home, "agentd.yaml")
	write(t, file, "agents: {picking: {tools: {names: [choose, whence]}}}\n", 0o600)
	m := newMind(t, func(asked thought) (string, string) {
		switch len(asked.Messages) {
		case 2: // the instructions and the prompt
			return "", call("a", "choose", `{"option":"red"}`)
		case 4:
			return "", call("b", "whence", `{}`)
		}
		return "done", ""
	})
	d := h.agentdServe(t, append(m.flags(), "--config", file)...)
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	id, err := d.StartRun(t.Context(), &agentdv1.StartRunRequest{
		Prompt: "choose", Session: "s7", Agent: "picking", Traceparent: parent, Context: map[string][]byte{"options": []byte(`["red","blue"]`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	results, traces := map[string]string{}, map[string]string{}
	for _, e := range d.story(t, id, 0, nil) {
		if r := e.GetCallResult(); r != nil {
			results[r.GetTool()] = r.GetResult().GetContent()[0].GetText()
		}
		if c := e.GetCallStarted(); c != nil {
			traces[c.GetTool()] = c.GetTraceparent()
		}
	}
	notSampled := strings.TrimSuffix(traces["whence"], "1") + "0" // because this toolhost records no traces
	if results["choose"] != "chosen: red" || results["whence"] != notSampled || !strings.HasPrefix(traces["whence"], parent[:36]) ||
		traces["whence"] == traces["choose"] {
		t.Errorf("results %v, traces %v", results, traces)
	}
	for _, asked := range m.thoughts() {
		if len(asked.Tools) != 5 || asked.Tools[0].Function.Description != "Chooses for s7." || !strings.Contains(string(asked.Tools[0].Function.Parameters), `"blue"`) {
			t.Errorf("the model was told %+v", asked.Tools)
		}
	}
}
