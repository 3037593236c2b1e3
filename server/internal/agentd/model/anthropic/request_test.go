package anthropic_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/anthropic"
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
			if sent.Method != "POST" || sent.Path != "/v1/messages" || sent.Header.Get("X-Api-Key") != "key" || sent.Header.Get("Anthropic-Version") == "" {
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
	opaque := func(provider, data string) model.Block {
		return model.Block{Opaque: &model.Opaque{Provider: provider, JSON: json.RawMessage(data)}}
	}
	attached := func(name, kind, data string) model.Block {
		return model.Block{Attachment: &model.Attachment{Name: name, MIMEType: kind, Data: []byte(data)}}
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
				{Role: user, Blocks: []model.Block{text("What do both files say?")}},
				{Role: assistant, Blocks: []model.Block{
					opaque("anthropic", `{"type":"thinking","thinking":"Two files.","signature":"Eq=="}`),
					opaque("openai", `{"type":"reasoning","id":"rs_1"}`),
					text("I will read them."),
					call("toolu_1", "read_file", `{"path":"b","limit":10}`),
					call("toolu_2", "read_file", `{"path":`),
					call("toolu_3", "now", ""),
					call("toolu_4", "now", `[1]`),
				}},
				{Role: user, Blocks: []model.Block{
					text("And hurry."),
					result("toolu_1", false, tool.Text("forty-two"), tool.JSON(json.RawMessage(`{"n":42}`))),
					result("toolu_2", true, tool.Text("the arguments are no JSON")),
					result("toolu_3", false),
					result("toolu_4", false, tool.Text(" "), tool.Image("image/png", []byte("png")), tool.Image("image/tiff", []byte("tiff")), tool.File("a.bin", "application/octet-stream", []byte{1, 2})),
				}},
				{Role: assistant, Blocks: []model.Block{text("\n")}},
				{Role: assistant, Blocks: []model.Block{opaque("anthropic", `{"type":"redacted_thinking","data":"x"}`), call("toolu_5", "now", "{}")}},
				{Role: user, Blocks: []model.Block{result("toolu_5", false, tool.Text("noon"))}},
			},
		},
		"attachments": {Messages: []model.Message{
			{Role: user, Blocks: []model.Block{text("What is this?"), attached("cat.png", "image/png", "png")}},
			{Role: assistant, Blocks: []model.Block{text("A cat.")}},
			{Role: user, Blocks: []model.Block{
				attached("", "image/webp", "webp"), attached("a.csv", "text/csv; charset=utf-8", "n\xff,m"), attached("blank.txt", "text/plain", "\n"),
				attached("d.json", "application/json", `{"a":1}`), attached("doc.pdf", "application/pdf", "%PDF"),
			}},
		}},
		"paused": {Messages: []model.Message{
			{Role: user, Blocks: []model.Block{text("search")}},
			{Role: assistant, Blocks: []model.Block{opaque("anthropic", `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"q"}}`)}},
		}},
	}
}

func TestWhatWasReceivedIsSentBackUnchanged(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/thinking.txtar")
	if err != nil {
		t.Fatal(err)
	}
	server := wiretest.Serve(t, wiretest.Reply{Body: string(archive.Files[0].Data)})
	m := connect(t, server)
	req := wiretest.Hello()
	var opaque []json.RawMessage
	for chunk, err := range m.Generate(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		if chunk.Response != nil {
			req.Messages = append(req.Messages, chunk.Response.Message)
			for _, block := range chunk.Response.Message.Blocks {
				if block.Opaque != nil {
					opaque = append(opaque, block.Opaque.JSON)
				}
			}
		}
	}
	for range m.Generate(t.Context(), req) {
		break
	}
	var sent struct {
		Messages []struct{ Content []json.RawMessage }
	}
	if err := json.Unmarshal(server.Requests()[1].Body, &sent); err != nil {
		t.Fatal(err)
	}
	if len(opaque) != 4 {
		t.Fatalf("there were %d opaque blocks", len(opaque))
	}
	for i, want := range opaque {
		if diff := cmp.Diff(value(t, want), value(t, sent.Messages[1].Content[i])); diff != "" {
			t.Errorf("block %d changed (-received +sent):\n%s", i, diff)
		}
	}
}

func value(t *testing.T, data json.RawMessage) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestWithoutAKeyNoneIsSent(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "from the environment")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "from the environment")
	server := wiretest.Serve(t, wiretest.Reply{})
	m, err := anthropic.New(anthropic.Config{Model: "local", BaseURL: server.URL + "/proxy", HTTPClient: server.Client})
	if err != nil {
		t.Fatal(err)
	}
	for range m.Generate(t.Context(), wiretest.Hello()) {
		continue
	}
	sent := server.Requests()[0]
	if sent.Path != "/proxy/v1/messages" || sent.Header.Get("X-Api-Key") != "" || sent.Header.Get("Authorization") != "" {
		t.Fatalf("sent %s with %v", sent.Path, sent.Header)
	}
}

func TestRefusesAttachments(t *testing.T) {
	wiretest.RefusesAttachments(t, connect, "audio/mpeg", "video/mp4")
}
