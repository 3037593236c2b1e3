package anthropic_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/anthropic"
	"github.com/toolhost/toolhost/server/internal/agentd/model/wiretest"
)

// This is the table of docs/models.md, as far as the provider decides.
func TestEveryStopReason(t *testing.T) {
	var stops []wiretest.Stop
	for reason, want := range map[string]model.StopReason{
		"": model.StopEndTurn, "end_turn": model.StopEndTurn, "stop_sequence": model.StopEndTurn, "tool_use": model.StopEndTurn,
		"pause_turn": model.StopPauseTurn, "max_tokens": model.StopMaxTokens, "refusal": model.StopRefusal,
		"model_context_window_exceeded": model.StopContextOverflow,
		"error":                         "", "END_TURN": "", "stop": "", "length": "", "content_filter": "", "something_new": "",
	} {
		stops = append(stops, wiretest.Stop{Reason: reason, Want: want})
		if want == model.StopEndTurn {
			want = model.StopToolUse
		}
		stops = append(stops, wiretest.Stop{Reason: reason, Call: true, Want: want})
	}
	const head = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n"
	const call = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"one\",\"input\":{}}}\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
	wiretest.Stops(t, stops, func(s wiretest.Stop) string {
		events := head
		if s.Call {
			events += call
		}
		return events + fmt.Sprintf("event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":%q},\"usage\":{\"output_tokens\":1}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", s.Reason)
	}, func(client *http.Client) (model.Model, error) {
		return anthropic.New(anthropic.Config{Model: "m", BaseURL: "http://test.invalid", HTTPClient: client})
	})
}
