package anthropic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/model/anthropic"
	"github.com/toolhost/toolhost/internal/model/wiretest"
)

// Thinking tokens are requested in addition to the response's limit.
func TestThinkingIsAskedFor(t *testing.T) {
	server := wiretest.Serve(t, wiretest.Reply{})
	m, err := anthropic.New(anthropic.Config{Model: "m", BaseURL: server.URL, HTTPClient: server.Client, Thinking: 2048})
	if err != nil {
		t.Fatal(err)
	}
	req := wiretest.Hello()
	req.MaxTokens = 500
	for range m.Generate(t.Context(), req) {
		break
	}
	var sent struct {
		MaxTokens int `json:"max_tokens"`
		Thinking  struct {
			Type   string
			Budget int `json:"budget_tokens"`
		}
	}
	if err := json.Unmarshal(server.Requests()[0].Body, &sent); err != nil {
		t.Fatal(err)
	}
	if sent.Thinking.Type != "enabled" || sent.Thinking.Budget != 2048 || sent.MaxTokens != 2548 {
		t.Errorf("sent %+v", sent)
	}
	if _, err := anthropic.New(anthropic.Config{Model: "m", Thinking: 5}); err == nil || !strings.Contains(err.Error(), "1024") {
		t.Errorf("too few: %v", err)
	}
}
