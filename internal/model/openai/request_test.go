package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/internal/model/openai"
	"github.com/toolhost/toolhost/internal/model/wiretest"
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

// OpenAI refuses max_tokens for its newer models, and other servers know only max_tokens.
func TestTheLimitIsNamedAsTheServerWantsIt(t *testing.T) {
	for base, want := range map[string]string{
		"":                                    "max_completion_tokens",
		"https://eu.api.openai.com/v1":        "max_completion_tokens",
		"https://x.openai.azure.com/openai/v": "max_completion_tokens",
		"http://127.0.0.1:11434/v1":           "max_tokens",
		"https://notopenai.com/v1":            "max_tokens",
	} {
		var sent map[string]json.RawMessage
		client := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			if err := json.Unmarshal(body, &sent); err != nil {
				return nil, err
			}
			return nil, io.ErrUnexpectedEOF
		})}
		m, err := openai.New(openai.Config{Model: "m", BaseURL: base, HTTPClient: client})
		if err != nil {
			t.Fatal(err)
		}
		req := hello()
		req.MaxTokens = 77
		failureOf(t, m, req)
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
	failureOf(t, m, hello())
	sent := server.Requests()[0]
	if sent.Path != "/v1/chat/completions" || sent.Header.Get("Authorization") != "" || sent.Header.Get("OpenAI-Organization") != "" {
		t.Fatalf("sent %s with %v", sent.Path, sent.Header)
	}
}

const noReasoning = `{"error":{"message":"Function tools with reasoning_effort are not supported for this model. Use /v1/responses or set reasoning_effort to 'none'.","type":"invalid_request_error","param":"reasoning_effort","code":null}}`

func TestAModelThatTakesToolsOnlyWithoutReasoningIsToldSo(t *testing.T) {
	answer := wiretest.Reply{Body: "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"}
	server := wiretest.Serve(t, wiretest.Reply{Status: 400, Body: noReasoning}, answer)
	m := connect(t, server)
	req := hello()
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
	req := hello()
	req.Tools = []model.Tool{{Name: "now"}}
	if got := failureOf(t, connect(t, server), req); got.Status != 400 || got.Retryable {
		t.Fatalf("got %#v", got)
	}
	if n := len(server.Requests()); n != 2 {
		t.Fatalf("the request was sent %d times", n)
	}
}

// Data that arrived with calls returns with the message that it arrived with, under the same names,
// also after further turns.
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
			req := hello()
			for chunk, err := range m.Generate(t.Context(), req) {
				if err != nil {
					t.Fatal(err)
				}
				if chunk.Response != nil {
					req.Messages = append(req.Messages, chunk.Response.Message)
				}
			}
			req.Messages = append(req.Messages, hello().Messages...)
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
