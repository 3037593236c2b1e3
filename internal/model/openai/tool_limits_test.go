package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/internal/model/openai"
)

// Refuses gives the reason for each tool that requests omit.
func TestRefusedTools(t *testing.T) {
	m, err := openai.New(openai.Config{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
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
	other, err := openai.New(openai.Config{Model: "m", BaseURL: "http://127.0.0.1:1/v1"})
	if err != nil || m.MaxTools() != 128 || other.MaxTools() != 0 {
		t.Errorf("at most %d tools, others %d, %v", m.MaxTools(), other.MaxTools(), err)
	}
}
