package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/openai"
	"github.com/toolhost/toolhost/server/internal/agentd/model/wiretest"
	"github.com/toolhost/toolhost/tool"
)

// The bodies of requests must equal the files in testdata/requests.
func TestRequests(t *testing.T) {
	for name, req := range requests() {
		t.Run(name, func(t *testing.T) {
			server := wiretest.Serve(t, wiretest.Reply{})
			for range connect(t, server).Generate(t.Context(), req) {
				continue
			}
			sent := server.Requests()[0]
			if sent.Method != "POST" || sent.Path != "/v1/chat/completions" || sent.Header.Get("Authorization") != "Bearer key" {
				t.Errorf("sent %s %s with %v", sent.Method, sent.Path, sent.Header)
			}
			wiretest.GoldenFile(t, filepath.Join("testdata", "requests", name+".json"), wiretest.Indent(t, sent.Body)+"\n")
		})
	}
}

func requests() map[string]model.Request {
	user, assistant := model.RoleUser, model.RoleAssistant
	text := func(s string) model.Block { return model.Block{Text: &model.Text{Text: s}} }
	call := func(id, name, arguments string) model.Block {
		return model.Block{ToolCall: &model.ToolCall{ID: id, Name: name, Arguments: arguments}}
	}
	result := func(id string, isError bool, content ...tool.Content) model.Block {
		return model.Block{ToolResult: &model.ToolResult{ID: id, Content: content, IsError: isError}}
	}
	return map[string]model.Request{
		"minimal": {Messages: []model.Message{{Role: user, Blocks: []model.Block{text("hi")}}}},
		"settings": {
			Messages: wiretest.Hello().Messages,
			Sampling: model.Sampling{Temperature: number(0), TopP: number(0.5), Effort: model.EffortHigh},
			Schema:   json.RawMessage(`{"type":"object"}`), // this server is not OpenAI's
		},
		"attachments": {Messages: []model.Message{{Role: user, Blocks: []model.Block{
			text("Compare these."),
			attached("a.png", "image/png", "png"),
			attached("", "text/csv; charset=utf-8", "n\n42\n\xff"),
			attached("b \"c\".json", "application/json", `{"n":42}`),
			text("Be brief."),
		}}}},
		"conversation": {
			System:    "Be <brief> & kind.",
			MaxTokens: 1000,
			Tools: []model.Tool{
				{Name: "read_file", Description: "Reads a file.", InputSchema: json.RawMessage(`{"type":"object","required":["path"],"properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"additionalProperties":false}`)},
				{Name: "now"},
			},
			Messages: []model.Message{
				{Role: user, Blocks: []model.Block{text("What do both"), text("files say?")}},
				{Role: assistant, Blocks: []model.Block{
					{Opaque: &model.Opaque{Provider: "anthropic", JSON: json.RawMessage(`{"type":"thinking"}`)}},
					text("I will read them."),
					call("call_1", "read_file", `{"path":"b","limit":10}`),
					call("call_2", "read_file", `{"path":`),
					call("call_3", "now", ""),
				}},
				{Role: user, Blocks: []model.Block{
					text("And hurry."),
					result("call_1", false, tool.Text("forty-two"), tool.JSON(json.RawMessage(`{"n":42}`))),
					result("call_2", true, tool.Text("the arguments are no JSON")),
					result("call_3", false, tool.Image("image/png", []byte("png")), tool.Image("image/tiff", []byte("tiff"))),
				}},
				{Role: assistant},
				{Role: assistant, Blocks: []model.Block{call("call_4", "now", "{}")}},
				{Role: user, Blocks: []model.Block{result("call_4", true, tool.Text("error: no clock"))}},
			},
		},
	}
}

func number(n float64) *float64 { return &n }

func attached(name, mimeType, data string) model.Block {
	return model.Block{Attachment: &model.Attachment{Name: name, MIMEType: mimeType, Data: []byte(data)}}
}

// OpenAI's own servers know parameters that other servers refuse.
func TestOpenAIsOwnServers(t *testing.T) {
	long := strings.Repeat("toolu_", 20)
	strict := `{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"integer"}},"required":["b","a"],"additionalProperties":false}`
	for name, req := range map[string]model.Request{
		"official": {
			System: "Be brief.", Schema: json.RawMessage(strict), MaxTokens: 10,
			Messages: []model.Message{
				{Role: model.RoleUser, Blocks: []model.Block{{Text: &model.Text{Text: "What is in it?"}}, attached("r\xff.pdf", "application/pdf", "%PDF"), attached("", "application/pdf", "%PDF")}},
				{Role: model.RoleAssistant, Blocks: []model.Block{{ToolCall: &model.ToolCall{ID: long, Name: "now"}}}},
				{Role: model.RoleUser, Blocks: []model.Block{{ToolResult: &model.ToolResult{ID: long, Content: []tool.Content{tool.Text("noon")}}}}},
			},
		},
		"official_not_strict": {Messages: wiretest.Hello().Messages, Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string","minLength":1}}}`)},
	} {
		t.Run(name, func(t *testing.T) {
			sent := sentTo(t, "", req)
			wiretest.GoldenFile(t, filepath.Join("testdata", "requests", name+".json"), wiretest.Indent(t, sent)+"\n")
		})
	}
}

// sentTo returns the body of the request to the server at a base URL.
func sentTo(t *testing.T, base string, req model.Request) []byte {
	t.Helper()
	var body []byte
	client := &http.Client{Transport: wiretest.Transport(func(r *http.Request) (*http.Response, error) {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		return nil, io.ErrUnexpectedEOF
	})}
	m, err := openai.New(openai.Config{Model: "m", BaseURL: base, HTTPClient: client})
	if err != nil {
		t.Fatal(err)
	}
	wiretest.Failure(t, m, req)
	return body
}

// Servers other than OpenAI's refuse PDF files.
func TestRefusesAttachments(t *testing.T) {
	wiretest.RefusesAttachments(t, connect, "application/pdf", "audio/mpeg", "video/mp4")
}

func TestFeatures(t *testing.T) {
	for base, official := range map[string]bool{"": true, "https://x.openai.azure.com/openai/v1": true, "http://127.0.0.1:1/v1": false} {
		m, err := openai.New(openai.Config{Model: "m", BaseURL: base})
		if err != nil {
			t.Fatal(err)
		}
		got := model.FeaturesOf(m)
		if got.Schema != official || slices.Contains(got.Attachments, "application/pdf") != official || !slices.Contains(got.Attachments, "image/png") || !slices.Contains(got.Attachments, "text/*") {
			t.Errorf("%q: %+v", base, got)
		}
	}
}

// The error for a setting that the API refuses names the setting. An effort is never dropped.
func TestRefusedSettings(t *testing.T) {
	for name, test := range map[string]struct {
		sampling   model.Sampling
		body, want string
	}{
		"temperature": {
			model.Sampling{Temperature: number(0)},
			`{"error":{"message":"Unsupported parameter: 'temperature' is not supported with this model.","type":"invalid_request_error","param":"temperature","code":null}}`,
			"remove temperature from the sampling of this model",
		},
		"effort":            {model.Sampling{Effort: model.EffortLow}, `{"error":{"message":"Unsupported value","type":"invalid_request_error","param":"reasoning_effort","code":"unsupported_value"}}`, "change the effort in the sampling of this model"},
		"effort with tools": {model.Sampling{Effort: model.EffortLow}, noReasoning, "or use the Responses API (openai-responses:gpt-test)"},
	} {
		t.Run(name, func(t *testing.T) {
			server := wiretest.Serve(t, wiretest.Reply{Status: 400, Body: test.body})
			req := wiretest.Hello()
			req.Sampling, req.Tools = test.sampling, []model.Tool{{Name: "now"}}
			got := wiretest.Failure(t, connect(t, server), req)
			if got.Status != 400 || got.Retryable || !strings.HasSuffix(got.Message, test.want) || len(server.Requests()) != 1 {
				t.Errorf("%+v after %d requests", got, len(server.Requests()))
			}
		})
	}
}

// The request names the token limit as its server requires. OpenAI refuses max_tokens for its newer
// models, and other servers know only max_tokens.
func TestTheLimitIsNamedAsTheServerWantsIt(t *testing.T) {
	for base, want := range map[string]string{
		"":                                    "max_completion_tokens",
		"https://eu.api.openai.com/v1":        "max_completion_tokens",
		"https://x.openai.azure.com/openai/v": "max_completion_tokens",
		"http://127.0.0.1:11434/v1":           "max_tokens",
		"https://notopenai.com/v1":            "max_tokens",
	} {
		req := wiretest.Hello()
		req.MaxTokens = 77
		var sent map[string]json.RawMessage
		if err := json.Unmarshal(sentTo(t, base, req), &sent); err != nil {
			t.Fatal(err)
		}
		if string(sent[want]) != "77" {
			t.Errorf("%q was sent %s, want 77 as %s", base, sent, want)
		}
	}
}

func TestWithoutAKeyNoneIsSent(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "from the environment")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/from/the/environment")
	t.Setenv("OPENAI_ORG_ID", "from the environment")
	server := wiretest.Serve(t, wiretest.Reply{})
	m, err := openai.New(openai.Config{Model: "local", BaseURL: server.URL + "/v1/", HTTPClient: server.Client})
	if err != nil {
		t.Fatal(err)
	}
	wiretest.Failure(t, m, wiretest.Hello())
	sent := server.Requests()[0]
	if sent.Path != "/v1/chat/completions" || sent.Header.Get("Authorization") != "" || sent.Header.Get("OpenAI-Organization") != "" {
		t.Fatalf("sent %s with %v", sent.Path, sent.Header)
	}
}

const noReasoning = `{"error":{"message":"Function tools with reasoning_effort are not supported for this model. Use /v1/responses or set reasoning_effort to 'none'.","type":"invalid_request_error","param":"reasoning_effort","code":null}}`

func TestToolsWithoutReasoning(t *testing.T) {
	answer := wiretest.Reply{Body: "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"}
	server := wiretest.Serve(t, wiretest.Reply{Status: 400, Body: noReasoning}, answer)
	m := connect(t, server)
	req := wiretest.Hello()
	req.Tools = []model.Tool{{Name: "now"}}
	for range 2 {
		if got := wiretest.Transcript(t, m.Generate(t.Context(), req)); !strings.Contains(got, "end_turn") {
			t.Fatalf("got\n%s", got)
		}
	}
	var efforts []string
	for _, request := range server.Requests() {
		var sent struct {
			Effort string `json:"reasoning_effort"`
		}
		if err := json.Unmarshal(request.Body, &sent); err != nil {
			t.Fatal(err)
		}
		efforts = append(efforts, sent.Effort)
	}
	if got := strings.Join(efforts, ","); got != ",none,none" {
		t.Fatalf("the efforts sent are %q", got)
	}
}

func TestAModelThatStillComplainsIsNotAskedForEver(t *testing.T) {
	server := wiretest.Serve(t, wiretest.Reply{Status: 400, Body: noReasoning})
	req := wiretest.Hello()
	req.Tools = []model.Tool{{Name: "now"}}
	if got := wiretest.Failure(t, connect(t, server), req); got.Status != 400 || got.Retryable {
		t.Fatalf("got %#v", got)
	}
	if n := len(server.Requests()); n != 2 {
		t.Fatalf("the request was sent %d times", n)
	}
}

// The provider sends extra data of a call back to the server with the same message and under the
// same names, also after further turns.
func TestWhatTheServerWantsBackIsSentBack(t *testing.T) {
	for name, want := range map[string]string{
		"reasoning_content":       `{"reasoning_content":"The user wants <the> time.","extra":[null]}`,
		"reasoning_content_empty": `{"reasoning_content":"","extra":[null]}`,
		"reasoning":               `{"reasoning":"Time?","extra":[null]}`,
		"reasoning_details":       `{"details":[{"format":"anthropic-claude-v1","index":0,"signature":"c2ln","text":"Time?","type":"reasoning.text"},{"data":"b3BhcXVl","id":"rs_1","index":0,"type":"reasoning.encrypted"}],"extra":[null]}`,
		"signatures":              `{"extra":[{"google":{"thought_signature":"Sig\u003c1\u003e=="}},null,{"google":{"thought_signature":"Sig3=="}}]}`,
		"several_calls":           `{"extra":[null,null,null]}`,
	} {
		t.Run(name, func(t *testing.T) {
			archive, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
			if err != nil {
				t.Fatal(err)
			}
			server := wiretest.Serve(t, wiretest.Reply{Body: string(archive.Files[0].Data)})
			m := connect(t, server)
			req := wiretest.Hello()
			for chunk, err := range m.Generate(t.Context(), req) {
				if err != nil {
					t.Fatal(err)
				}
				if chunk.Response != nil {
					req.Messages = append(req.Messages, chunk.Response.Message)
				}
			}
			req.Messages = append(req.Messages, wiretest.Hello().Messages...)
			for range m.Generate(t.Context(), req) {
				break
			}
			if got := givenBack(t, server.Requests()[1].Body); got != want {
				t.Errorf("sent back  %s\nwant %s", got, want)
			}
		})
	}
}

// givenBack returns the data in the second message of a request.
func givenBack(t *testing.T, body []byte) string {
	t.Helper()
	var sent struct {
		Messages []struct {
			ReasoningContent *string           `json:"reasoning_content"`
			Reasoning        *string           `json:"reasoning"`
			Details          []json.RawMessage `json:"reasoning_details"`
			ToolCalls        []struct {
				Extra json.RawMessage `json:"extra_content"`
			} `json:"tool_calls"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &sent); err != nil {
		t.Fatal(err)
	}
	back := struct {
		ReasoningContent *string           `json:"reasoning_content,omitempty"`
		Reasoning        *string           `json:"reasoning,omitempty"`
		Details          []json.RawMessage `json:"details,omitempty"`
		Extra            []json.RawMessage `json:"extra"`
	}{ReasoningContent: sent.Messages[1].ReasoningContent, Reasoning: sent.Messages[1].Reasoning, Details: sent.Messages[1].Details}
	for _, call := range sent.Messages[1].ToolCalls {
		back.Extra = append(back.Extra, call.Extra)
	}
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(back); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}
