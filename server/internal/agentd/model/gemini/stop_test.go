package gemini_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/wiretest"
)

// This is the table of docs/models.md, as far as the provider decides.
func TestEveryStopReason(t *testing.T) {
	var stops []wiretest.Stop
	for reason, want := range map[string]model.StopReason{
		"STOP": model.StopEndTurn, "MAX_TOKENS": model.StopMaxTokens, "SAFETY": model.StopContentFilter, "RECITATION": model.StopContentFilter,
		"LANGUAGE": model.StopContentFilter, "BLOCKLIST": model.StopContentFilter, "PROHIBITED_CONTENT": model.StopContentFilter,
		"SPII": model.StopContentFilter, "IMAGE_SAFETY": model.StopContentFilter, "IMAGE_PROHIBITED_CONTENT": model.StopContentFilter,
		"IMAGE_RECITATION": model.StopContentFilter,
		"OTHER":            "", "MALFORMED_FUNCTION_CALL": "", "UNEXPECTED_TOOL_CALL": "", "TOO_MANY_TOOL_CALLS": "", "NO_IMAGE": "", "IMAGE_OTHER": "",
		"CONTINUATION": "", "stop": "", "end_turn": "", "SOMETHING_NEW": "",
	} {
		stops = append(stops, wiretest.Stop{Reason: reason, Want: want})
		if want == model.StopEndTurn {
			want = model.StopToolUse
		}
		stops = append(stops, wiretest.Stop{Reason: reason, Call: true, Want: want})
	}
	wiretest.Stops(t, stops, func(s wiretest.Stop) string {
		events := `data: {"candidates": [{"content": {"parts": [{"text": "a"}]}}]}` + "\n\n"
		if s.Call {
			events += `data: {"candidates": [{"content": {"parts": [{"functionCall": {"name": "one"}}]}}]}` + "\n\n"
		}
		return events + fmt.Sprintf(`data: {"candidates": [{"finishReason": %q}]}`, s.Reason) + "\n\n"
	}, func(client *http.Client) (model.Model, error) { return openAt("http://test.invalid", "", client) })
}
