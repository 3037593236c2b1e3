package wiretest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// RefusedTools checks that Refuses gives the reason for each tool that requests omit.
func RefusedTools(t *testing.T, m model.ToolLimiter) {
	for name, test := range map[string]struct {
		tool model.Tool
		want string
	}{
		"taken":        {model.Tool{Name: "read", InputSchema: json.RawMessage(`{"type":"object"}`)}, ""},
		"no schema":    {model.Tool{Name: "read"}, ""},
		"a long name":  {model.Tool{Name: strings.Repeat("x", 200)}, "name"},
		"a bad schema": {model.Tool{Name: "read", InputSchema: json.RawMessage(`{`)}, "schema"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := m.Refuses(test.tool); (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("got %q", got)
			}
		})
	}
}

// UnfitTools returns tools of which each API refuses some.
func UnfitTools() []model.Tool {
	return []model.Tool{
		{Name: "choice", Description: "Chooses.", InputSchema: json.RawMessage(`{"properties":{"b":{"oneOf":[true]},"a":{}},"oneOf":[{"required":["a"]},{"required":["b"]}]}`)},
		{Name: "a tool", InputSchema: json.RawMessage(`{"type":"object"}`)},
		{Name: "broken", InputSchema: json.RawMessage(`{"type":`)},
		{Name: "spaced", InputSchema: json.RawMessage(`{"type":"object","properties":{"a b":{}}}`)},
		{Name: "long", Description: strings.Repeat("ü", 5000)},
	}
}
