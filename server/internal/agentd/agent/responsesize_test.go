package agent_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// excessive is a model whose responses are too large.
type excessive struct {
	chunk    func(i int) model.Chunk // without end; nil: only the response
	response *model.Response

	asked, sent int
}

func (*excessive) Name() string { return "fake:excessive" }
func (m *excessive) Generate(context.Context, model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		m.asked++
		for i := 0; m.chunk != nil; i++ {
			if m.sent++; !yield(m.chunk(i), nil) {
				return
			}
		}
		yield(model.Chunk{Response: m.response}, nil)
	}
}

// A model that never stops writing, or that makes calls without end, ends its run with an error.
// The response is asked for again as often as another malformed one, and nothing of it is in the
// journal.
func TestResponsesAreBounded(t *testing.T) {
	piece := strings.Repeat("x", 1<<20)
	call := func(i int) model.Chunk {
		return model.Chunk{CallBegun: &model.CallBegun{Index: i, ID: fmt.Sprint(i), Name: "echo"}}
	}
	opaque := model.Block{Opaque: &model.Opaque{Provider: "fake", JSON: []byte(`"` + strings.Repeat(piece, 17) + `"`)}}
	for name, test := range map[string]struct {
		model *excessive
		sent  int // chunks of one response
		words string
	}{
		"text":      {&excessive{chunk: func(int) model.Chunk { return model.Chunk{TextDelta: &model.TextDelta{Text: piece}} }}, 17, "more than 16777216 bytes"},
		"reasoning": {&excessive{chunk: func(int) model.Chunk { return model.Chunk{ReasoningDelta: &model.ReasoningDelta{Text: piece}} }}, 17, "more than 16777216 bytes"},
		"calls":     {&excessive{chunk: call}, 1001, "more than 1000 tool calls"},
		"opaque":    {&excessive{response: response(model.StopEndTurn, opaque)}, 0, "more than 16777216 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, &fakeModel{}, newTools(echo), func(c *agent.Config) { c.Model = test.model })
				f.start(loop.Task{})
				end := f.end()
				if end.StopReason != loop.StopModelError || !strings.Contains(end.Message, test.words) {
					t.Errorf("ended with %s: %.200s", end.StopReason, end.Message)
				}
				if m := test.model; m.asked != loop.MaxMalformed || m.sent != m.asked*test.sent {
					t.Errorf("asked %d times, for %d chunks", m.asked, m.sent)
				}
				for _, e := range f.watch(0) {
					if e.Seq > 0 && e.Payload.Type() == loop.TypeAssistantMessage {
						t.Errorf("the journal has the response")
					}
				}
			})
		})
	}
}
