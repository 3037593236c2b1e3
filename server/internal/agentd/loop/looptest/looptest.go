// Package looptest contains what the tests of the reducer and of the driver share: content of
// conversations, and a check that a conversation meets the requirements of every provider.
package looptest

import (
	"encoding/json"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// Offered returns the tools that a model is offered: "echo" is an ordinary one, "broken" is
// unavailable, "direct" returns its result directly, and "serial" runs alone.
func Offered() []tool.Info {
	return []tool.Info{
		{Spec: tool.Spec{Name: "broken"}, UnavailableReason: "it needs a key"},
		{Spec: tool.Spec{Name: "direct", ReturnDirect: true}},
		{Spec: tool.Spec{Name: "echo", ReadOnly: true}},
		{Spec: tool.Spec{Name: "serial", Serial: true}},
	}
}

// Text returns a block of text.
func Text(s string) model.Block { return model.Block{Text: &model.Text{Text: s}} }

// Call returns a call of a tool without arguments. id is the provider's id of the call.
func Call(id, name string) model.Block {
	return model.Block{ToolCall: &model.ToolCall{ID: id, Name: name, Arguments: "{}"}}
}

// Completion returns a call of the system tool attempt_completion.
func Completion(arguments string) model.Block {
	b := Call("done", loop.SystemAttemptCompletion)
	b.ToolCall.Arguments = arguments
	return b
}

// Response returns a response of a model that used two tokens of input and three of output.
func Response(reason model.StopReason, blocks ...model.Block) *model.Response {
	return &model.Response{
		Message: model.Message{Role: model.RoleAssistant, Blocks: blocks}, StopReason: reason, Usage: tool.Usage{InputTokens: 2, OutputTokens: 3},
	}
}

// Effect returns an effect. value is JSON text.
func Effect(key string, op tool.EffectOperation, value string) tool.Effect {
	return tool.Effect{Key: key, Operation: op, Value: json.RawMessage(value)}
}

// CheckPaired checks what every provider requires: the user begins, every call has exactly one
// result, the results are in call order at the beginning of the next message, and there are no
// others.
func CheckPaired(t *testing.T, messages []model.Message) {
	t.Helper()
	var open []string
	seen := make(map[string]bool)
	for i, m := range messages {
		if len(m.Blocks) == 0 {
			t.Fatalf("message %d is empty", i)
		}
		if i == 0 && m.Role != model.RoleUser || i > 0 && m.Role == model.RoleUser && messages[i-1].Role == model.RoleUser {
			t.Fatalf("message %d is the %s's", i, m.Role)
		}
		results := 0
		for j, b := range m.Blocks {
			switch {
			case b.ToolResult != nil:
				if results != j || results >= len(open) || open[results] != b.ToolResult.ID {
					t.Fatalf("message %d, block %d: result of %q, open calls are %q", i, j, b.ToolResult.ID, open)
				}
				results++
			case b.ToolCall != nil && (seen[b.ToolCall.ID] || b.ToolCall.ID == "" || tool.CheckName(b.ToolCall.Name) != nil):
				t.Fatalf("message %d: the call %q of %q repeats or has no good name", i, b.ToolCall.ID, b.ToolCall.Name)
			}
		}
		if results != len(open) {
			t.Fatalf("message %d has %d results for %d calls", i, results, len(open))
		}
		open = nil
		for _, b := range m.Blocks {
			if b.ToolCall != nil {
				open = append(open, b.ToolCall.ID)
				seen[b.ToolCall.ID] = true
			}
		}
	}
	if len(open) > 0 {
		t.Fatalf("the calls %q have no results", open)
	}
}
