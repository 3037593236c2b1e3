package provider_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/provider"
)

// recorder records the URL and the key of a request.
type recorder struct{ url, key string }

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.url = req.URL.String()
	r.key = req.Header.Get("X-Api-Key") + req.Header.Get("Authorization") + req.Header.Get("X-Goog-Api-Key")
	return nil, io.ErrUnexpectedEOF
}

func TestOpen(t *testing.T) {
	both := map[string]string{"ANTHROPIC_API_KEY": "a-key\n", "OPENAI_API_KEY": "o-key"}
	tests := map[string]struct {
		choice         provider.Choice
		env            map[string]string
		name, url, key string
	}{
		"anthropic":              {provider.Choice{Model: "anthropic:claude-x"}, both, "anthropic:claude-x", "https://api.anthropic.com/v1/messages", "a-key"},
		"openai":                 {provider.Choice{Model: "openai:gpt-x"}, both, "openai:gpt-x", "https://api.openai.com/v1/chat/completions", "Bearer o-key"},
		"responses":              {provider.Choice{Model: "openai-responses:gpt-x"}, both, "openai-responses:gpt-x", "https://api.openai.com/v1/responses", "Bearer o-key"},
		"a name with a colon":    {provider.Choice{Model: "openai:qwen3:8b"}, both, "openai:qwen3:8b", "https://api.openai.com/v1/chat/completions", "Bearer o-key"},
		"both keys":              {provider.Choice{}, both, "anthropic:" + provider.DefaultAnthropic, "https://api.anthropic.com/v1/messages", "a-key"},
		"the key of OpenAI":      {provider.Choice{}, map[string]string{"ANTHROPIC_API_KEY": " ", "OPENAI_API_KEY": "o-key"}, "openai:" + provider.DefaultOpenAI, "https://api.openai.com/v1/chat/completions", "Bearer o-key"},
		"a key and a base URL":   {provider.Choice{BaseURL: "http://127.0.0.1:1"}, both, "anthropic:" + provider.DefaultAnthropic, "http://127.0.0.1:1/v1/messages", "a-key"},
		"a server without a key": {provider.Choice{Model: "openai:llama", BaseURL: "http://127.0.0.1:1/v1"}, nil, "openai:llama", "http://127.0.0.1:1/v1/chat/completions", ""},
		"gemini": {
			provider.Choice{Model: "gemini:gemini-x"}, map[string]string{"GEMINI_API_KEY": "g-key\n"},
			"gemini:gemini-x", "https://generativelanguage.googleapis.com/v1beta/models/gemini-x:streamGenerateContent?alt=sse", "g-key",
		},
		"both keys of Google": {
			provider.Choice{}, map[string]string{"GEMINI_API_KEY": "g-key", "GOOGLE_API_KEY": "k-key"},
			"gemini:" + provider.DefaultGemini, "https://generativelanguage.googleapis.com/v1beta/models/" + provider.DefaultGemini + ":streamGenerateContent?alt=sse", "k-key",
		},
		"a Gemini server without a key": {
			provider.Choice{Model: "gemini:x"}, map[string]string{"GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:2/proxy"},
			"gemini:x", "http://127.0.0.1:2/proxy/v1beta/models/x:streamGenerateContent?alt=sse", "",
		},
		"a base URL in the environment": {
			provider.Choice{Model: "openai:llama"}, map[string]string{"OPENAI_BASE_URL": "http://127.0.0.1:2/v1"},
			"openai:llama", "http://127.0.0.1:2/v1/chat/completions", "",
		},
		"an Anthropic server of one's own": {
			provider.Choice{Model: "anthropic:x"}, map[string]string{"ANTHROPIC_BASE_URL": "http://127.0.0.1:2/"},
			"anthropic:x", "http://127.0.0.1:2/v1/messages", "",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			sent := &recorder{}
			test.choice.Getenv = func(key string) string { return test.env[key] }
			test.choice.HTTPClient = &http.Client{Transport: sent}
			m, err := provider.Open(test.choice)
			if err != nil {
				t.Fatal(err)
			}
			for _, err := range m.Generate(t.Context(), model.Request{}) {
				if !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatal(err)
				}
			}
			if m.Name() != test.name || sent.url != test.url || sent.key != test.key {
				t.Fatalf("got %s at %s with key %q", m.Name(), sent.url, sent.key)
			}
		})
	}
}

func TestOpenReadsAScript(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a:b.yaml")
	if err := os.WriteFile(path, []byte("turns: [{text: hi}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := provider.Open(provider.Choice{Model: "scripted:" + path})
	if err != nil || m.Name() != "scripted:"+path {
		t.Fatalf("got %v, %v", m, err)
	}
}

// A model whose tools are text keeps its name, and has no limits of its API on tools.
func TestOpenTextTools(t *testing.T) {
	choice := provider.Choice{Model: "openai:plain", BaseURL: "http://127.0.0.1:1/v1", TextTools: true}
	m, err := provider.Open(choice)
	if err != nil || m.Name() != "openai:plain" {
		t.Fatalf("got %v, %v", m, err)
	}
	if _, limited := m.(model.ToolLimiter); limited {
		t.Error("the API limits tools that it does not see")
	}
	choice.TextTools = false
	if m, err = provider.Open(choice); err != nil {
		t.Fatal(err)
	}
	if _, limited := m.(model.ToolLimiter); !limited {
		t.Error("the API has no limits, so that the test shows nothing")
	}
}

func TestOpenSaysHowToGoOn(t *testing.T) {
	tests := map[string]struct {
		choice provider.Choice
		want   []string
	}{
		"nothing":             {provider.Choice{}, []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "--model scripted:FILE", "--base-url"}},
		"only a base URL":     {provider.Choice{BaseURL: "http://127.0.0.1:1"}, []string{"--model openai:NAME"}},
		"no key of Anthropic": {provider.Choice{Model: "anthropic:x"}, []string{"set ANTHROPIC_API_KEY", "--base-url"}},
		"no key of OpenAI":    {provider.Choice{Model: "openai:x"}, []string{"set OPENAI_API_KEY", "--base-url"}},
		"no key of Responses": {provider.Choice{Model: "openai-responses:x"}, []string{"openai-responses:x needs a key: set OPENAI_API_KEY", "--base-url"}},
		"no key of Google":    {provider.Choice{Model: "gemini:x"}, []string{"set GEMINI_API_KEY", "--base-url"}},
		"a Gemini model":      {provider.Choice{Model: "gemini-x"}, []string{"--model gemini:gemini-x"}},
		"unknown provider":    {provider.Choice{Model: "acme:x"}, []string{`no model provider "acme"`, "anthropic:NAME, openai:NAME, openai-responses:NAME, gemini:NAME or scripted:FILE"}},
		"no model":            {provider.Choice{Model: "openai:"}, []string{`"openai:" names no model`, "openai:NAME"}},
		"no provider":         {provider.Choice{Model: "claude-x"}, []string{"--model anthropic:claude-x"}},
		"no provider either":  {provider.Choice{Model: "gpt-x"}, []string{"--model openai:gpt-x"}},
		"only a script":       {provider.Choice{Model: "demo.yaml"}, []string{"--model scripted:demo.yaml"}},
		"missing script":      {provider.Choice{Model: "scripted:/no/such.yaml"}, []string{"reading the script", "/no/such.yaml"}},
		"script and base URL": {provider.Choice{Model: "scripted:x.yaml", BaseURL: "http://127.0.0.1:1"}, []string{"leave --base-url out"}},
		"bad base URL":        {provider.Choice{Model: "openai:x", BaseURL: "127.0.0.1:1"}, []string{`"127.0.0.1:1" is no http or https URL`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m, err := provider.Open(test.choice)
			if err == nil || m != nil {
				t.Fatalf("got %v, %v", m, err)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not say %q: %v", want, err)
				}
			}
		})
	}
}
