package textform_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/textform"
	"github.com/toolhost/toolhost/server/internal/agentd/model/wiretest"
	"github.com/toolhost/toolhost/tool"
)

var _ = flag.Bool("update", false, "write the results of the golden tests")

// writer is a model that streams a text in pieces of a size, and records its requests.
type writer struct {
	text     string
	size     int // 0: the whole text
	stop     model.StopReason
	features model.Features
	requests *[]model.Request
}

func (w writer) Name() string { return "test:writer" }

func (w writer) Features() model.Features { return w.features }

func (w writer) Generate(_ context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	if w.requests != nil {
		*w.requests = append(*w.requests, req)
	}
	size := w.size
	if size == 0 {
		size = max(1, len(w.text))
	}
	return func(yield func(model.Chunk, error) bool) {
		for piece := range slices.Chunk([]byte(w.text), size) {
			if !yield(model.Chunk{TextDelta: &model.TextDelta{Text: string(piece)}}, nil) {
				return
			}
		}
		message := model.Message{Role: model.RoleAssistant, Blocks: []model.Block{{Text: &model.Text{Text: w.text}}}}
		yield(model.Chunk{Response: &model.Response{Message: message, StopReason: w.stop, Usage: tool.Usage{OutputTokens: 7}}}, nil)
	}
}

// tools are the tools of the tests.
func tools() []model.Tool {
	schema := `{
		"type": "object",
		"properties": {
			"path": {"type": "string", "description": "Where."},
			"content": {"type": "string"},
			"mode": {"type": "integer"},
			"append": {"type": "boolean"},
			"tags": {"type": "array", "items": {"type": "string"}},
			"meta": {"type": "object"},
			"note": {"type": ["string", "null"]},
			"limit": {"anyOf": [{"type": "number"}, {"type": "null"}]},
			"color": {"enum": ["red", "green"]},
			"edits": {"$ref": "#/$defs/edits"},
			"free": {}
		},
		"required": ["path"],
		"$defs": {"edits": {"type": "array", "items": {"type": "object"}}}
	}`
	return []model.Tool{
		{Name: "write", Description: "Writes a file.", InputSchema: json.RawMessage(schema), Examples: []tool.InputExample{
			{Description: "a short file", Arguments: json.RawMessage(`{"path":"a.txt","content":"one\ntwo\n","mode":420,"tags":["x"]}`)},
		}},
		{Name: "now", Description: "Returns the time."},
	}
}

// stream returns what a model makes of a request, in a form that does not depend on the pieces of
// the text, and the response.
func stream(t *testing.T, m model.Model, req model.Request) (string, *model.Response) {
	t.Helper()
	var out, open strings.Builder
	kind := ""
	flush := func() {
		if open.Len() > 0 {
			fmt.Fprintf(&out, "%s %q\n", kind, open.String())
		}
		open.Reset()
	}
	add := func(of, text string) {
		if of != kind {
			flush()
		}
		kind = of
		open.WriteString(text)
	}
	var response *model.Response
	for chunk, err := range wiretest.Check(t, m.Generate(t.Context(), req)) {
		switch {
		case err != nil:
			flush()
			fmt.Fprintf(&out, "error %v\n", err)
		case chunk.TextDelta != nil:
			add("text", chunk.TextDelta.Text)
		case chunk.ReasoningDelta != nil:
			add("reasoning", chunk.ReasoningDelta.Text)
		case chunk.CallBegun != nil:
			flush()
			fmt.Fprintf(&out, "call %d %s %q\n", chunk.CallBegun.Index, chunk.CallBegun.ID, chunk.CallBegun.Name)
		case chunk.ArgumentDelta != nil:
			add(fmt.Sprint("arguments ", chunk.ArgumentDelta.Index), chunk.ArgumentDelta.Text)
		case chunk.Response != nil:
			flush()
			response = chunk.Response
		}
	}
	if response != nil {
		describe(t, &out, m, req, response)
	}
	return out.String(), response
}

// describe adds what follows from a response: the calls that can be executed, and what the model
// reads if there are none.
func describe(t *testing.T, out *strings.Builder, m model.Model, req model.Request, response *model.Response) {
	t.Helper()
	fmt.Fprintf(out, "stop %s\n", response.StopReason)
	for _, call := range calls(response) {
		verb := "not executed"
		if executable(response, call) {
			verb = "executed"
		}
		fmt.Fprintf(out, "%s: %s %s\n", verb, call.Name, call.Arguments)
	}
	for _, block := range response.Message.Blocks {
		if block.Opaque == nil {
			continue
		}
		next := next(t, m, req, response, "[the agent's words]")
		fmt.Fprintf(out, "the model reads that it wrote: %q\n", text(&next.Messages[0]))
		fmt.Fprintf(out, "and then:\n%s\n", text(&next.Messages[1]))
	}
}

// next returns the request that the wrapped model gets after the calls of a response have results.
func next(t *testing.T, m model.Model, req model.Request, response *model.Response, result string) model.Request {
	t.Helper()
	results := model.Message{Role: model.RoleUser}
	for _, call := range calls(response) {
		results.Blocks = append(results.Blocks, model.Block{ToolResult: &model.ToolResult{
			ID: call.ID, Name: call.Name, Content: []tool.Content{tool.Text(result)}, IsError: !json.Valid([]byte(call.Arguments)),
		}})
	}
	req.Messages = []model.Message{response.Message, results}
	return sent(t, m, req)
}

// sent returns the request that the wrapped model gets.
func sent(t *testing.T, m model.Model, req model.Request) model.Request {
	t.Helper()
	var requests []model.Request
	w, ok := m.(*recorded)
	if !ok {
		t.Fatalf("%T records no requests", m)
	}
	inner := w.inner
	inner.requests = &requests
	for range textform.Wrap(inner).Generate(t.Context(), req) {
		break
	}
	return requests[0]
}

// recorded is a text model whose wrapped model is known.
type recorded struct {
	*textform.Model
	inner writer
}

func wrap(w writer) *recorded { return &recorded{textform.Wrap(w), w} }

// executable reports whether the agent executes a call of a response.
func executable(response *model.Response, call *model.ToolCall) bool {
	return response.StopReason == model.StopToolUse && json.Valid([]byte(call.Arguments))
}

func calls(response *model.Response) []*model.ToolCall {
	var all []*model.ToolCall
	for _, block := range response.Message.Blocks {
		if block.ToolCall != nil {
			all = append(all, block.ToolCall)
		}
	}
	return all
}

func text(m *model.Message) string {
	var all []string
	for _, block := range m.Blocks {
		if block.Text != nil {
			all = append(all, block.Text.Text)
		}
	}
	return strings.Join(all, "\n")
}

// Each archive has the text that a model writes, and what follows from it. The result is the same
// whether the text arrives whole, in pieces of three bytes, or byte by byte.
func TestStreams(t *testing.T) {
	wiretest.Golden(t, "testdata", func(t *testing.T, files map[string]string) string {
		written := strings.TrimSuffix(files["text"], "\n")
		if quoted, ok := files["quoted"]; ok {
			var err error
			if written, err = strconv.Unquote(strings.TrimSpace(quoted)); err != nil {
				t.Fatal(err)
			}
		}
		stop := model.StopReason(strings.TrimSpace(files["stop"]))
		if stop == "" {
			stop = model.StopEndTurn
		}
		req := model.Request{Tools: tools()}
		if strings.TrimSpace(files["tools"]) == "none" {
			req.Tools = nil
		}
		whole, _ := stream(t, wrap(writer{text: written, stop: stop}), req)
		for _, size := range []int{3, 1} {
			split, _ := stream(t, wrap(writer{text: written, size: size, stop: stop}), req)
			if diff := cmp.Diff(whole, split); diff != "" {
				t.Errorf("in pieces of %d bytes (-whole +split):\n%s", size, diff)
			}
		}
		return whole
	})
}
