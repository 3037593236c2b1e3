package anthropic_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/anthropic"
	"github.com/toolhost/toolhost/server/internal/agentd/model/wiretest"
)

// sentBy returns the body of a request to a model, or the error of a request that was not sent.
func sentBy(t *testing.T, name string, thinking int64, req model.Request) (body map[string]json.RawMessage, failed *model.Error) {
	t.Helper()
	server := wiretest.Serve(t, wiretest.Reply{})
	m, err := anthropic.New(anthropic.Config{Model: name, BaseURL: server.URL, HTTPClient: server.Client, Thinking: thinking})
	if err != nil {
		t.Fatal(err)
	}
	failed = wiretest.Failure(t, m, req)
	sent := server.Requests()
	if len(sent) == 0 {
		return nil, failed
	}
	if err := json.Unmarshal(sent[0].Body, &body); err != nil {
		t.Fatal(err)
	}
	return body, nil
}

func TestSampling(t *testing.T) {
	number := func(n float64) *float64 { return &n }
	for _, test := range []struct {
		model    string
		thinking int64
		sampling model.Sampling
		want     string // max_tokens, thinking, output_config, temperature and top_p, or the error
	}{
		{"claude-sonnet-5-5", 0, model.Sampling{}, `16384    `},
		{"claude-sonnet-5-5", 0, model.Sampling{Effort: model.EffortLow}, `18432 {"display":"summarized","type":"adaptive"} {"effort":"low"}  `},
		{"claude-opus-4-6", 0, model.Sampling{Effort: model.EffortHigh}, `40960 {"display":"summarized","type":"adaptive"} {"effort":"high"}  `},
		{"claude-mythos-preview", 4096, model.Sampling{}, `20480 {"display":"summarized","type":"adaptive"}   `},
		{"claude-sonnet-5-5", 4096, model.Sampling{Effort: model.EffortNone}, `16384 {"type":"disabled"}   `},
		{"claude-opus-4-7", 4096, model.Sampling{Effort: model.EffortNone}, `16384    `},
		{"claude-sonnet-4-5-20250929", 0, model.Sampling{Effort: model.EffortMedium}, `24576 {"budget_tokens":8192,"type":"enabled"}   `},
		{"claude-sonnet-4-20250514", 2000, model.Sampling{Temperature: number(1), TopP: number(0.95)}, `18384 {"budget_tokens":2000,"type":"enabled"}  1 0.95`},
		{"claude-3-5-haiku-20241022", 0, model.Sampling{Temperature: number(0), TopP: number(0.5)}, `16384   0 0.5`},
		{"claude-3-5-haiku-20241022", 0, model.Sampling{Effort: model.EffortLow}, "the setting effort is low, and the model claude-3-5-haiku-20241022 cannot think: remove the setting, or use none"},
		{"claude-3-5-sonnet-latest", 2048, model.Sampling{}, "the setting thinking is 2048, and the model claude-3-5-sonnet-latest cannot think: remove the setting"},
		{"claude-3-opus-20240229", 0, model.Sampling{Effort: model.EffortHigh}, "the setting effort is high, and the model claude-3-opus-20240229 cannot think: remove the setting, or use none"},
		{"claude-2.1", 0, model.Sampling{Effort: model.EffortHigh}, "the setting effort is high, and the model claude-2.1 cannot think: remove the setting, or use none"},
		{"claude-3-5-haiku-20241022", 2048, model.Sampling{Effort: model.EffortNone}, `16384    `},
		{"claude-3-7-sonnet-20250219", 0, model.Sampling{Effort: model.EffortLow}, `18432 {"budget_tokens":2048,"type":"enabled"}   `},
		{"claude-opus-4-1-20250805", 0, model.Sampling{Effort: model.EffortLow}, `18432 {"budget_tokens":2048,"type":"enabled"}   `},
		{"claude-haiku-4-5", 0, model.Sampling{Effort: model.EffortLow}, `18432 {"budget_tokens":2048,"type":"enabled"}   `},
		{"kimi", 0, model.Sampling{Effort: model.EffortLow}, `18432 {"budget_tokens":2048,"type":"enabled"}   `},
		{"claude-opus-4-6", 0, model.Sampling{Temperature: number(1.5)}, "the setting temperature is 1.5, and Anthropic accepts 0 to 1"},
		{"claude-opus-4-6", 0, model.Sampling{Temperature: number(0.5), Effort: model.EffortLow}, "the setting temperature is 0.5, and Anthropic accepts only 1 while the model thinks"},
		{"claude-opus-4-6", 2048, model.Sampling{TopP: number(0.5)}, "the setting top_p is 0.5, and Anthropic accepts 0.95 to 1 while the model thinks"},
		{"claude-opus-4-6", 0, model.Sampling{TopP: number(2)}, "the setting top_p is 2, and Anthropic accepts 0 to 1"},
		{"claude-opus-4-6", 0, model.Sampling{Effort: "max"}, `the setting effort is "max", and Anthropic accepts none, low, medium and high`},
	} {
		req := wiretest.Hello()
		req.Sampling = test.sampling
		body, failed := sentBy(t, test.model, test.thinking, req)
		got := ""
		switch {
		case failed != nil && failed.Retryable:
			t.Errorf("%s: %#v", test.model, failed)
		case failed != nil:
			got = failed.Message
		default:
			got = fmt.Sprintf("%s %s %s %s %s", body["max_tokens"], body["thinking"], body["output_config"], body["temperature"], body["top_p"])
		}
		if got != test.want {
			t.Errorf("%s %+v:\ngot  %s\nwant %s", test.model, test.sampling, got, test.want)
		}
	}
}

// A schema is enforced as far as the API can. The model reads what is lost.
func TestSchemas(t *testing.T) {
	for name, test := range map[string]struct {
		model, schema string
		format        string // that the API enforces
		read          bool   // the system prompt has the schema
	}{
		"exact":        {"claude-sonnet-5-5", `{"type":"object","required":["a"],"properties":{"b":{"type":["string","null"]},"a":{"type":"integer"}},"additionalProperties":false}`, `{"additionalProperties":false,"properties":{"a":{"type":"integer"},"b":{"type":["string","null"]}},"required":["a"],"type":"object"}`, false},
		"open":         {"claude-opus-4-5", `{"type":"object","properties":{"a":{"type":"array","minItems":1,"items":{"type":"object","properties":{}}}}}`, `{"additionalProperties":false,"properties":{"a":{"items":{"additionalProperties":false,"properties":{},"type":"object"},"minItems":1,"type":"array"}},"type":"object"}`, false},
		"bounds":       {"claude-sonnet-5-5", `{"type":"object","properties":{"n":{"type":"integer","maximum":9007199254740993},"t":{"type":"string","maxLength":3,"format":"zip"}},"additionalProperties":false}`, `{"additionalProperties":false,"properties":{"n":{"type":"integer"},"t":{"type":"string"}},"type":"object"}`, true},
		"one of":       {"claude-sonnet-5-5", `{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"const":1}]}}}`, `{"additionalProperties":false,"properties":{"a":{"anyOf":[{"type":"string"},{"const":1}]}},"type":"object"}`, true},
		"definitions":  {"claude-sonnet-5-5", `{"type":"object","properties":{"a":{"$ref":"#/$defs/x"},"b":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"object","properties":{"n":{"type":"null"}}},"unused":{"enum":[1]}}}`, `{"$defs":{"unused":{"enum":[1]},"x":{"additionalProperties":false,"properties":{"n":{"type":"null"}},"type":"object"}},"additionalProperties":false,"properties":{"a":{"$ref":"#/$defs/x"},"b":{"$ref":"#/$defs/x"}},"type":"object"}`, false},
		"recursive":    {"claude-sonnet-5-5", `{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"object","properties":{"next":{"$ref":"#/$defs/x"}}}}}`, "", true},
		"any names":    {"claude-sonnet-5-5", `{"type":"object","properties":{"m":{"type":"object","additionalProperties":{"type":"string"}}}}`, "", true},
		"any value":    {"claude-sonnet-5-5", `{"type":"object","properties":{"v":{}}}`, "", true},
		"conditions":   {"claude-sonnet-5-5", `{"type":"object","properties":{"v":{"type":"null"}},"if":{"required":["v"]}}`, "", true},
		"no such API":  {"claude-3-5-haiku-20241022", `{"type":"object","properties":{"v":{"type":"null"}}}`, "", false},
		"a far target": {"claude-sonnet-5-5", `{"type":"object","properties":{"v":{"$ref":"https://example.com/x"}}}`, "", true},
		"too open":     {"claude-sonnet-5-5", `{"type":"object","properties":{` + many(25) + `}}`, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			req := wiretest.Hello()
			req.System, req.Schema = "Be kind.", json.RawMessage(test.schema)
			body, failed := sentBy(t, test.model, 0, req)
			if failed != nil {
				t.Fatal(failed)
			}
			want := test.format
			if want != "" {
				want = `{"format":{"schema":` + want + `,"type":"json_schema"}}`
			}
			if got := string(body["output_config"]); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if read := strings.Contains(string(body["system"]), "JSON Schema"); read != test.read {
				t.Errorf("the model reads %s", body["system"])
			}
		})
	}
}

// many returns that many properties.
func many(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`"p%d":{"type":"null"}`, i))
	}
	return strings.Join(list, ",")
}

func TestFeatures(t *testing.T) {
	for name, schema := range map[string]bool{"claude-3-5-haiku-20241022": false, "claude-opus-4-20250514": false, "claude-haiku-4-5": true, "claude-sonnet-5": true, "kimi": false} {
		m, err := anthropic.New(anthropic.Config{Model: name})
		if err != nil {
			t.Fatal(err)
		}
		if f := model.FeaturesOf(m); f.Schema != schema || len(f.Attachments) == 0 {
			t.Errorf("%s: %+v", name, f)
		}
	}
}
