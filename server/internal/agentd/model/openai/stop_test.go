package openai_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/openai"
	"github.com/toolhost/toolhost/server/internal/agentd/model/wiretest"
)

// This is the table of docs/models.md, as far as the provider decides.
func TestEveryFinishReason(t *testing.T) {
	var stops []wiretest.Stop
	for reason, want := range map[string]model.StopReason{
		"": model.StopEndTurn, "stop": model.StopEndTurn, "tool_calls": model.StopEndTurn, "function_call": model.StopEndTurn,
		"length": model.StopMaxTokens, "content_filter": model.StopContentFilter, "model_length": model.StopContextOverflow,
		"error": "", "STOP": "", "eos_token": "", "insufficient_system_resource": "", "abort": "", "length ": "", "end_turn": "", "tool_use": "",
	} {
		stops = append(stops, wiretest.Stop{Reason: reason, Want: want})
		if want == model.StopEndTurn {
			want = model.StopToolUse
		}
		stops = append(stops, wiretest.Stop{Reason: reason, Call: true, Want: want})
	}
	for _, reason := range []string{"", "stop", "tool_calls", "function_call"} {
		for _, call := range []bool{false, true} {
			stops = append(stops, wiretest.Stop{Reason: reason, Call: call, Refused: true, Want: model.StopRefusal})
		}
	}
	wiretest.Stops(t, stops, func(s wiretest.Stop) string {
		delta := `"content":"hi"`
		if s.Refused {
			delta = `"refusal":"no"`
		}
		if s.Call {
			delta += `,"tool_calls":[{"index":0,"id":"x","function":{"name":"one","arguments":"{}"}}]`
		}
		return fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":{%s},\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", delta, s.Reason)
	}, func(client *http.Client) (model.Model, error) {
		return openai.New(openai.Config{Model: "m", BaseURL: "http://test.invalid/v1", HTTPClient: client})
	})
}
