package anthropic_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/toolhost/toolhost/server/internal/agentd/model/anthropic"
	"github.com/toolhost/toolhost/server/internal/agentd/model/wiretest"
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

// The unsigned thinking of a compatible server returns to this server. Another server does not get
// it: Anthropic's own would refuse it.
func TestUnsignedThinkingReturnsToItsServer(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/thinking_unsigned.txtar")
	if err != nil {
		t.Fatal(err)
	}
	server := wiretest.Serve(t, wiretest.Reply{Body: string(archive.Files[0].Data)})
	req := wiretest.Hello()
	for chunk, err := range connect(t, server).Generate(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		if chunk.Response != nil {
			req.Messages = append(req.Messages, chunk.Response.Message, wiretest.Hello().Messages[0])
		}
	}
	for base, want := range map[string]int{
		server.URL:                           1,
		"http://other.invalid":               0,
		"":                                   0,
		"https://eu.api.anthropic.com/proxy": 0,
	} {
		var body []byte
		client := &http.Client{Transport: wiretest.Transport(func(r *http.Request) (*http.Response, error) {
			body, _ = io.ReadAll(r.Body)
			return nil, io.ErrUnexpectedEOF
		})}
		m, err := anthropic.New(anthropic.Config{Model: "m", BaseURL: base, HTTPClient: client})
		if err != nil {
			t.Fatal(err)
		}
		wiretest.Failure(t, m, req)
		if got := strings.Count(string(body), `"thinking":"Hmm"`); got != want || !strings.Contains(string(body), `"text":"hi"`) {
			t.Errorf("the server at %q gets the thinking %d times, want %d: %s", base, got, want, body)
		}
	}
}
