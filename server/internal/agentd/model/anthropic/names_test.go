package anthropic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/wiretest"
	"github.com/toolhost/toolhost/tool"
)

// The API gets parameters with names that it refuses under other names. What it sends, and all that
// is behind the package, has the tool's own names (composio#3500, decocms#6874).
func TestParametersWithOtherNames(t *testing.T) {
	events := `event: message_start
data: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"x","content":[],"usage":{"input_tokens":5,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t0","name":"now","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"_top\":1}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"list","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"folder\":\"a\",\"_to"}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"p\":{\"_top\":9007199254740993},\"$skip\":2,\"filter_state_\":\"open\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}

event: message_stop
data: {"type":"message_stop"}

`
	server := wiretest.Serve(t, wiretest.Reply{Body: events})
	const before = `{"filter[state]":"closed","folder":"b"}`
	call := func(name, arguments string) model.Block {
		return model.Block{ToolCall: &model.ToolCall{ID: name, Name: name, Arguments: arguments}}
	}
	req := wiretest.Hello()
	req.Messages = append(req.Messages,
		model.Message{Role: model.RoleAssistant, Blocks: []model.Block{call("list", before), call("now", `{"$top":1}`), call("list", `{"$top":`)}},
		model.Message{Role: model.RoleUser, Blocks: []model.Block{{ToolResult: &model.ToolResult{ID: "list"}}, {ToolResult: &model.ToolResult{ID: "now"}}}})
	req.Tools = []model.Tool{
		{Name: "now", InputSchema: json.RawMessage(`{"type":"object","properties":{"_top":{"type":"integer"}}}`)},
		{
			Name:        "list",
			InputSchema: json.RawMessage(`{"type":"object","required":["folder","$top"],"properties":{"folder":{"type":"string"},"$top":{},"filter[state]":{"type":"string"}}}`),
			Examples:    []tool.InputExample{{Arguments: json.RawMessage(`{"folder":"c","$top":3}`)}},
		},
	}
	got := wiretest.Transcript(t, connect(t, server).Generate(t.Context(), req))
	for _, want := range []string{
		`arguments 0 "{\"_top\":1}"`,
		`arguments 1 "{\"folder\":\"a\",\"$top\":{\"_top\":9007199254740993},\"$skip\":2,\"filter[state]\":\"open\"}"`,
	} {
		if piece := want[:len("arguments 0 ")]; strings.Count(got, want) != 1 || strings.Count(got, piece) != 1 {
			t.Errorf("got\n%s\nwant %s", got, want)
		}
	}
	sent := string(server.Requests()[0].Body)
	for _, want := range []string{
		`{"type":"object","required":["folder","_top"],"properties":{"folder":{"type":"string"},"_top":{},"filter_state_":{"type":"string"}}}`,
		`"input":{"filter_state_":"closed","folder":"b"}`, `"input":{"$top":1}`, `"input_examples":[{"_top":3,"folder":"c"}]`,
	} {
		if !strings.Contains(sent, want) {
			t.Errorf("the API gets %s\nwant %s", sent, want)
		}
	}
	if kept := req.Messages[1].Blocks[0].ToolCall.Arguments; kept != before {
		t.Errorf("the conversation has %s", kept)
	}
}
