package gemini_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/gemini"
	"github.com/toolhost/toolhost/server/internal/agentd/model/wiretest"
	"github.com/toolhost/toolhost/tool"
)

// The bodies of requests must equal the files in testdata/requests.
func TestRequests(t *testing.T) {
	for _, test := range requests() {
		t.Run(test.name, func(t *testing.T) {
			server := wiretest.Serve(t, wiretest.Reply{})
			for range named(t, server, test.model).Generate(t.Context(), test.request) {
				continue
			}
			sent := server.Requests()[0]
			if sent.Method != "POST" || sent.Path != "/v1beta/models/"+test.model+":streamGenerateContent" || sent.Header.Get("X-Goog-Api-Key") != "key" {
				t.Errorf("sent %s %s with %v", sent.Method, sent.Path, sent.Header)
			}
			wiretest.GoldenFile(t, filepath.Join("testdata", "requests", test.name+".json"), wiretest.Indent(t, sent.Body)+"\n")
		})
	}
}

type request struct {
	name, model string
	request     model.Request
}

func text(s string) model.Block { return model.Block{Text: &model.Text{Text: s}} }

func call(id, name, arguments string) model.Block {
	return model.Block{ToolCall: &model.ToolCall{ID: id, Name: name, Arguments: arguments}}
}

func result(id, name string, isError bool, content ...tool.Content) model.Block {
	return model.Block{ToolResult: &model.ToolResult{ID: id, Name: name, Content: content, IsError: isError}}
}

func opaque(provider, data string) model.Block {
	return model.Block{Opaque: &model.Opaque{Provider: provider, JSON: json.RawMessage(data)}}
}

func attached(name, kind, data string) model.Block {
	return model.Block{Attachment: &model.Attachment{Name: name, MIMEType: kind, Data: []byte(data)}}
}

func requests() []request {
	user, assistant := model.RoleUser, model.RoleAssistant
	half, most := 0.5, 0.95
	conversation := model.Request{
		System:    "Be <brief> & kind.",
		MaxTokens: 1000,
		Sampling:  model.Sampling{Temperature: &half, TopP: &most, Effort: model.EffortLow},
		Schema:    json.RawMessage(`{"type":"object","required":["b"],"properties":{"b":{"type":"integer","maximum":9007199254740993},"a":{"type":"string"}}}`),
		Tools: []model.Tool{
			{Name: "read_file", Description: "Reads a file.", InputSchema: json.RawMessage(`{"type":"object","required":["path"],"properties":{"path":{"type":"string"},"limit":{"type":"integer","maximum":9007199254740993}},"additionalProperties":false}`)},
			{Name: "now"},
		},
		Messages: []model.Message{
			{Role: user, Blocks: []model.Block{text("What do both files say?")}},
			{Role: assistant, Blocks: []model.Block{
				opaque("anthropic", `{"type":"thinking","thinking":"Two files.","signature":"Eq=="}`),
				text("I will read them."),
				opaque("gemini", `{"thoughtSignature":"c2lnIDE="}`),
				call("fc_1", "read_file", `{"path":"b","limit":10}`),
				call("fc_2", "read_file", `{"path":`),
				call("fc_3", "now", ""),
			}},
			{Role: user, Blocks: []model.Block{
				text("And hurry."),
				result("fc_1", "read_file", false, tool.Text("forty-two"), tool.JSON(json.RawMessage(`{"n":42}`))),
				result("fc_2", "read_file", true, tool.Text("the arguments are no JSON")),
				result("fc_3", "now", false, tool.Text(" "), tool.Image("image/png", []byte("png")), tool.Image("image/gif", []byte("gif")), tool.File("a.bin", "application/octet-stream", []byte{1, 2})),
			}},
			{Role: assistant, Blocks: []model.Block{text("\n")}},
			{Role: assistant, Blocks: []model.Block{
				opaque("gemini", `{"executableCode":{"code":"1","language":"PYTHON"}}`),
				opaque("gemini", `{"text":"hm","thought":true,"thoughtSignature":"c2lnIDI="}`),
				opaque("gemini", `{"thoughtSignature":"c2lnIDM="}`),
				text("Half done."),
				opaque("gemini", `{"text":"","thoughtSignature":"c2lnIDQ="}`),
				call("toolu_5", "now", "{}"),
			}},
			{Role: user, Blocks: []model.Block{result("toolu_5", "now", false, tool.Text("noon"))}},
		},
	}
	attachments := model.Request{Messages: []model.Message{{Role: user, Blocks: []model.Block{
		attached("cat.png", "image/png", "png"), attached("", "application/pdf", "%PDF"), attached("a.csv", "text/csv; charset=utf-8", "n\xff,m"),
		attached("blank.txt", "text/plain", "\n"), attached("d.json", "application/json", `{"a":1}`), text("What is this?"),
	}}}}
	return []request{
		{"minimal", "gemini-2.0-flash", wiretest.Hello()},
		{"thoughts", "gemini-2.5-pro", wiretest.Hello()},
		{"conversation", "gemini-3-flash", conversation},
		{"conversation_before_3", "gemini-2.5-flash", conversation},
		{"attachments", "gemini-flash-latest", attachments},
	}
}

// A second request has every part of a response that the API wants back, as it came.
func TestWhatWasReceivedIsSentBackUnchanged(t *testing.T) {
	for name, want := range map[string]string{
		"signed_call":            `[{"functionCall":{"id":"call_r1_0","name":"now"},"thoughtSignature":"c2lnIDwxPg=="}]`,
		"signed_parallel":        `[{"functionCall":{"args":{"flight":"AA100"},"id":"fc1","name":"check_flight"},"thoughtSignature":"c2lnIGE="},{"functionCall":{"args":{"time":"10 AM"},"id":"fc2","name":"book_taxi"}}]`,
		"signed_text":            `[{"text":"The risk is low."},{"text":"","thoughtSignature":"c2lnIGxhc3Q="}]`,
		"signed_text_part":       `[{"text":"one "},{"text":"two ","thoughtSignature":"c2lnIHQ="},{"text":"three"}]`,
		"signed_empty_then_call": `[{"text":"","thoughtSignature":"c2lnIHQ="},{"functionCall":{"id":"call_r1_0","name":"now"},"thoughtSignature":"skip/thought/signature/validator"}]`,
		"signed_thought":         `[{"text":"Hm.","thought":true,"thoughtSignature":"c2lnIGg="},{"text":"Yes."}]`,
		"picture":                `[{"text":"Here: "},{"inlineData":{"data":"cG5n","mimeType":"image/png"}}]`,
		"code_execution":         `[{"text":"Let me add:\n"},{"executableCode":{"code":"print(2+3)","language":"PYTHON"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"5\n"}},{"text":"It is 5."}]`,
	} {
		archive, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		server := wiretest.Serve(t, wiretest.Reply{Body: string(archive.Files[0].Data)})
		m, req := connect(t, server), wiretest.Hello()
		for chunk, err := range m.Generate(t.Context(), req) {
			if err != nil {
				t.Fatal(err)
			}
			if chunk.Response != nil {
				req.Messages = append(req.Messages, chunk.Response.Message)
			}
		}
		for range m.Generate(t.Context(), req) {
			break
		}
		var sent struct {
			Contents []struct{ Parts json.RawMessage }
		}
		if err := json.Unmarshal(server.Requests()[1].Body, &sent); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(sent.Contents[1].Parts)); diff != "" {
			t.Errorf("%s (-want +sent):\n%s", name, diff)
		}
	}
}

func TestWithoutAKeyNoneIsSent(t *testing.T) {
	for _, name := range []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_CLOUD_PROJECT"} {
		t.Setenv(name, "1")
	}
	server := wiretest.Serve(t, wiretest.Reply{})
	m, err := gemini.New(gemini.Config{Model: "local", BaseURL: server.URL + "/proxy", HTTPClient: server.Client})
	if err != nil {
		t.Fatal(err)
	}
	for range m.Generate(t.Context(), wiretest.Hello()) {
		continue
	}
	sent := server.Requests()[0]
	if sent.Path != "/proxy/v1beta/models/local:streamGenerateContent" || sent.Header.Get("X-Goog-Api-Key") != "" || sent.Header.Get("Authorization") != "" {
		t.Fatalf("sent %s with %v", sent.Path, sent.Header)
	}
}

func TestSampling(t *testing.T) {
	number := func(n float64) *float64 { return &n }
	for _, test := range []struct {
		model    string
		sampling model.Sampling
		want     string // of generationConfig, or of the error
	}{
		{"gemini-2.0-flash", model.Sampling{}, "null"},
		{"gemma-3-27b-it", model.Sampling{Effort: model.EffortNone}, "null"},
		{"gemini-2.5-flash", model.Sampling{}, `{"thinkingConfig":{"includeThoughts":true}}`},
		{"gemini-2.5-flash", model.Sampling{Effort: model.EffortNone}, `{"thinkingConfig":{"thinkingBudget":0}}`},
		{"models/gemini-2.5-flash", model.Sampling{Effort: model.EffortMedium}, `{"thinkingConfig":{"includeThoughts":true,"thinkingBudget":8192}}`},
		{"gemini-3-pro-preview", model.Sampling{Effort: model.EffortHigh}, `{"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"HIGH"}}`},
		{"gemini-4-argon", model.Sampling{Effort: model.EffortNone}, `{"thinkingConfig":{"thinkingLevel":"MINIMAL"}}`},
		{"gemini-2.0-flash", model.Sampling{Temperature: number(0), TopP: number(0.1)}, `{"temperature":0,"topP":0.1}`},
		{"gemini-2.5-flash-image", model.Sampling{Temperature: number(2)}, `{"temperature":2}`},
		{"gemini-2.5-pro", model.Sampling{Effort: model.EffortNone}, "the setting effort is none, and the model gemini-2.5-pro always thinks: use low"},
		{"gemini-2.0-flash", model.Sampling{Effort: model.EffortLow}, "the setting effort is low, and the model gemini-2.0-flash does not think"},
		{"gemini-3-flash", model.Sampling{Effort: "extreme"}, `the setting effort is "extreme", and Gemini accepts none, low, medium and high`},
		{"gemini-3-flash", model.Sampling{Temperature: number(2.1)}, "the setting temperature is 2.1, and Gemini accepts 0 to 2"},
		{"gemini-3-flash", model.Sampling{TopP: number(-1)}, "the setting top_p is -1, and Gemini accepts 0 to 1"},
	} {
		server := wiretest.Serve(t, wiretest.Reply{})
		req := wiretest.Hello()
		req.Sampling = test.sampling
		failed := wiretest.Failure(t, named(t, server, test.model), req)
		sent := server.Requests()
		if len(sent) == 0 {
			if failed.Message != test.want || failed.Retryable {
				t.Errorf("%s %+v: %#v", test.model, test.sampling, failed)
			}
			continue
		}
		var body struct {
			Config json.RawMessage `json:"generationConfig"`
		}
		if err := json.Unmarshal(sent[0].Body, &body); err != nil {
			t.Fatal(err)
		}
		if got := string(body.Config); got != test.want && !(test.want == "null" && (got == "" || got == "{}")) {
			t.Errorf("%s %+v: sent %s, want %s", test.model, test.sampling, got, test.want)
		}
	}
}

// Thinking tokens are requested in addition to the response's limit, if the API counts them in it.
func TestThinkingDoesNotShortenTheResponse(t *testing.T) {
	server := wiretest.Serve(t, wiretest.Reply{})
	req := wiretest.Hello()
	req.MaxTokens, req.Sampling.Effort = 500, model.EffortLow
	wiretest.Failure(t, named(t, server, "gemini-2.5-flash"), req)
	if sent := string(server.Requests()[0].Body); !strings.Contains(sent, `"maxOutputTokens":1524`) {
		t.Errorf("sent %s", sent)
	}
}

func TestFeatures(t *testing.T) {
	for name, schema := range map[string]bool{"gemini-2.5-pro": false, "gemini-3-flash": true, "gemini-flash-latest": true, "gemma-3": false} {
		m, err := gemini.New(gemini.Config{Model: name})
		if err != nil {
			t.Fatal(err)
		}
		if f := model.FeaturesOf(m); f.Schema != schema || len(f.Attachments) == 0 {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func TestRefusesAttachments(t *testing.T) {
	wiretest.RefusesAttachments(t, connect, "image/gif", "video/x-unknown")
}
