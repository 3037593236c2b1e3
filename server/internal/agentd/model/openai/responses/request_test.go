package responses_test

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
	"github.com/toolhost/toolhost/server/internal/agentd/model/openai/responses"
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
			if sent.Method != "POST" || sent.Path != "/v1/responses" || sent.Header.Get("Authorization") != "Bearer key" {
				t.Errorf("sent %s %s with %v", sent.Method, sent.Path, sent.Header)
			}
			wiretest.GoldenFile(t, filepath.Join("testdata", "requests", name+".json"), wiretest.Indent(t, sent.Body)+"\n")
		})
	}
}

// OpenAI's own servers know parameters that other servers refuse.
func TestOpenAIsOwnServers(t *testing.T) {
	long := strings.Repeat("toolu_", 20)
	req := model.Request{
		System: "Be brief.", MaxTokens: 5,
		Messages: []model.Message{
			message(model.RoleUser, text("What is in it?"), attached("r\xff.pdf", "application/pdf", "%PDF"), attached("", "application/pdf", "%PDF")),
			message(model.RoleAssistant, call(long, "now", "")),
			message(model.RoleUser, result(long, false, tool.Text("noon"))),
		},
	}
	var body []byte
	m, err := openAt("", "", &http.Client{Transport: wiretest.Transport(func(r *http.Request) (*http.Response, error) {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		return nil, io.ErrUnexpectedEOF
	})})
	if err != nil {
		t.Fatal(err)
	}
	wiretest.Failure(t, m, req)
	wiretest.GoldenFile(t, filepath.Join("testdata", "requests", "official.json"), wiretest.Indent(t, body)+"\n")
}

func text(s string) model.Block { return model.Block{Text: &model.Text{Text: s}} }

func message(role model.Role, blocks ...model.Block) model.Message {
	return model.Message{Role: role, Blocks: blocks}
}

func call(id, name, arguments string) model.Block {
	return model.Block{ToolCall: &model.ToolCall{ID: id, Name: name, Arguments: arguments}}
}

func result(id string, isError bool, content ...tool.Content) model.Block {
	return model.Block{ToolResult: &model.ToolResult{ID: id, Content: content, IsError: isError}}
}

func attached(name, mimeType, data string) model.Block {
	return model.Block{Attachment: &model.Attachment{Name: name, MIMEType: mimeType, Data: []byte(data)}}
}

func kept(data string) model.Block {
	return model.Block{Opaque: &model.Opaque{Provider: "openai-responses", JSON: json.RawMessage(data)}}
}

func number(n float64) *float64 { return &n }

func requests() map[string]model.Request {
	user, assistant := model.RoleUser, model.RoleAssistant
	return map[string]model.Request{
		"minimal": {Messages: wiretest.Hello().Messages},
		"nothing": {},
		"settings": {
			Messages: wiretest.Hello().Messages, MaxTokens: 1000,
			Sampling: model.Sampling{Temperature: number(0), TopP: number(0.5), Effort: model.EffortHigh},
			Schema:   json.RawMessage(`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"integer"}},"required":["b","a"],"additionalProperties":false}`),
		},
		"schema_not_strict": {Messages: wiretest.Hello().Messages, Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string","minLength":1}}}`)},
		"attachments": {Messages: []model.Message{message(user,
			text("Compare these."),
			attached("a.png", "image/png", "png"),
			attached("", "text/csv; charset=utf-8", "n\n42\n\xff"),
			attached("b \"c\".json", "application/json", `{"n":42}`),
			text("Be brief."),
		)}},
		"reasoning": {Messages: []model.Message{
			message(user, text("Go.")),
			message(assistant,
				kept(`{"type":"reasoning","id":"rs_0","summary":[{"type":"summary_text","text":"<a> & b"}],"encrypted_content":"gAAAAABone"}`),
				kept(`{"type":"message","phase":"commentary"}`), text("I call."),
				kept(`{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"gAAAAABtwo"}`),
				call("call_3", "now", "{}"), call("call_4", "now", "{}"),
			),
			message(user, result("call_3", false, tool.Text("noon")), result("call_4", false, tool.Text("noon"))),
			// The limit cut this response within its reasoning.
			message(assistant, text("It is"), kept(`{"type":"reasoning","id":"rs_5","summary":[],"encrypted_content":"gAAAAABcut"}`)),
			message(user, text("Continue.")),
			message(assistant, model.Block{Opaque: &model.Opaque{Provider: "openai", JSON: json.RawMessage(`{"reasoning_content":"x"}`)}}, kept(`{`), text("Noon.")),
		}},
		"conversation": {
			System: "Be <brief> & kind.",
			Tools: []model.Tool{
				{Name: "read_file", Description: "Reads a file.", InputSchema: json.RawMessage(`{"type":"object","required":["path"],"properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"additionalProperties":false}`)},
				{Name: "now"},
			},
			Messages: []model.Message{
				message(user, text("What do both"), text("files say?")),
				message(assistant,
					model.Block{Opaque: &model.Opaque{Provider: "anthropic", JSON: json.RawMessage(`{"type":"thinking"}`)}},
					text("I will read them."),
					call("call_1", "read_file", `{"path":"b","limit":10}`), call("call_2", "read_file", `{"path":`), call("call_3", "now", ""),
				),
				message(user,
					text("And hurry."),
					result("call_1", false, tool.Text("forty-two"), tool.JSON(json.RawMessage(`{"n":42}`))),
					result("call_2", true, tool.Text("the arguments are no JSON")),
					result("call_3", false, tool.Text("a clock"), tool.Image("image/png", []byte("png")), tool.Image("image/tiff", []byte("tiff"))),
				),
				message(assistant),
				message(assistant, call("call_4", "now", "{}")),
				message(user, result("call_4", true, tool.Text("error: no clock"))),
			},
		},
	}
}

func TestWithoutAKeyNoneIsSent(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "from the environment")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/from/the/environment")
	t.Setenv("OPENAI_ORG_ID", "from the environment")
	server := wiretest.Serve(t, wiretest.Reply{})
	m, err := openAt(server.URL+"/v1/", "", server.Client)
	if err != nil {
		t.Fatal(err)
	}
	wiretest.Failure(t, m, wiretest.Hello())
	sent := server.Requests()[0]
	if sent.Path != "/v1/responses" || sent.Header.Get("Authorization") != "" || sent.Header.Get("OpenAI-Organization") != "" {
		t.Fatalf("sent %s with %v", sent.Path, sent.Header)
	}
}

// What a response keeps returns with the next request, in its place and unchanged.
func TestWhatTheServerWantsBackIsSentBack(t *testing.T) {
	for name, want := range map[string]string{
		"reasoning_encrypted":     `{"type":"reasoning","id":"rs_0","summary":[{"type":"summary_text","text":"**Timing**"},{"type":"summary_text","text":"Look at <the> clock."}],"encrypted_content":"gAAAAABfinal+/="} function_call`,
		"reasoning_several":       `{"type":"reasoning","id":"rs_0","summary":[{"type":"summary_text","text":"First."}],"encrypted_content":"gAAAAABone"} message {"type":"reasoning","id":"rs_2","summary":[{"type":"summary_text","text":"Second."}],"encrypted_content":"gAAAAABtwo"} function_call`,
		"reasoning_text":          `{"type":"reasoning","id":"rs_0","summary":[],"content":[{"type":"reasoning_text","text":"The user wants it."}]} function_call`,
		"reasoning_not_encrypted": `function_call`,
		"reasoning_cut":           ``,
		"phase":                   `message commentary function_call message final_answer`,
		"call_cut":                `function_call`,
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
					req.Messages = append(req.Messages, stored(t, chunk.Response.Message))
				}
			}
			for range m.Generate(t.Context(), req) {
				break
			}
			if got := givenBack(t, server.Requests()[1].Body); got != want {
				t.Errorf("sent back  %s\nwant %s", got, want)
			}
		})
	}
}

// stored returns a message as the journal returns it.
func stored(t *testing.T, m model.Message) (read model.Message) {
	t.Helper()
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	return read
}

// givenBack returns the items of a request after the first one: reasoning in full, and of others
// the type and the phase.
func givenBack(t *testing.T, body []byte) string {
	t.Helper()
	var sent struct{ Input []json.RawMessage }
	if err := json.Unmarshal(body, &sent); err != nil {
		t.Fatal(err)
	}
	var items []string
	for _, raw := range sent.Input[1:] {
		var item struct{ Type, Role, Phase, ID string }
		if err := json.Unmarshal(raw, &item); err != nil {
			t.Fatal(err)
		}
		switch {
		case item.Type == "reasoning":
			items = append(items, strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(string(raw), `\u003c`, "<"), `\u003e`, ">"), `\u0026`, "&"))
		case item.ID != "":
			t.Errorf("an item has an id of the server, which then looks for its reasoning: %s", raw)
		case item.Role == "assistant":
			items = append(items, strings.TrimSpace("message "+item.Phase))
		default:
			items = append(items, item.Type)
		}
	}
	return strings.Join(items, " ")
}

// Some models and accounts refuse what improves a response. The request is sent again without it,
// and later requests omit it.
func TestRefusedExtras(t *testing.T) {
	refuse := func(status int, body string) wiretest.Reply { return wiretest.Reply{Status: status, Body: body} }
	summary := refuse(400, `{"error":{"message":"Your organization must be verified to generate reasoning summaries.","type":"invalid_request_error","param":"reasoning.summary","code":"unsupported_value"}}`)
	include := refuse(400, `{"error":{"message":"Encrypted content is not supported with this model.","type":"invalid_request_error","param":"include","code":null}}`)
	unreadable := refuse(400, `{"error":{"message":"The encrypted content gAAA...DQ== could not be verified.","type":"invalid_request_error","param":null,"code":"invalid_encrypted_content"}}`)
	notStored := refuse(404, `{"error":{"message":"Item with id 'rs_1' not found. Items are not persisted when `+"`store`"+` is set to false.","type":"invalid_request_error","param":"input","code":null}}`)
	answer := wiretest.Reply{Body: short}
	const all = "include summary rs_1"
	for name, test := range map[string]struct {
		replies []wiretest.Reply
		want    []string // of each of the requests for two responses
	}{
		"none":        {[]wiretest.Reply{answer}, []string{all, all}},
		"summary":     {[]wiretest.Reply{summary, answer}, []string{all, "include rs_1", "include rs_1"}},
		"encryption":  {[]wiretest.Reply{include, answer}, []string{all, "summary rs_1", "summary rs_1"}},
		"unreadable":  {[]wiretest.Reply{unreadable, answer}, []string{all, "include summary", "include summary"}},
		"not stored":  {[]wiretest.Reply{notStored, answer}, []string{all, "include summary", "include summary"}},
		"all of them": {[]wiretest.Reply{include, summary, unreadable, answer}, []string{all, "summary rs_1", "rs_1", "", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			server := wiretest.Serve(t, test.replies...)
			m := connect(t, server)
			for range 2 {
				if got := wiretest.Transcript(t, m.Generate(t.Context(), reasoned())); !strings.Contains(got, "end_turn") {
					t.Fatalf("got\n%s", got)
				}
			}
			if got := extras(t, server); !slices.Equal(got, test.want) {
				t.Errorf("the requests had %q, want %q", got, test.want)
			}
		})
	}
}

func reasoned() model.Request {
	req := wiretest.Hello()
	req.Messages = append(req.Messages, message(model.RoleAssistant, kept(`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"}`), text("hi")))
	return req
}

// extras returns what each request had.
func extras(t *testing.T, server *wiretest.Server) (all []string) {
	t.Helper()
	for _, request := range server.Requests() {
		var sent struct {
			Include   []string
			Reasoning struct{ Summary string }
			Input     []struct{ ID string }
		}
		if err := json.Unmarshal(request.Body, &sent); err != nil {
			t.Fatal(err)
		}
		var had []string
		if len(sent.Include) > 0 {
			had = append(had, "include")
		}
		if sent.Reasoning.Summary != "" {
			had = append(had, "summary")
		}
		for _, item := range sent.Input {
			if item.ID != "" {
				had = append(had, item.ID)
			}
		}
		all = append(all, strings.Join(had, " "))
	}
	return all
}

// A server that refuses the same thing again gets no further request.
func TestAServerThatStillRefusesIsNotAskedForEver(t *testing.T) {
	for param, requests := range map[string]int{"include": 2, "reasoning.summary": 2, "input": 1, "reasoning.effort": 2, "tools[0].name": 1} {
		server := wiretest.Serve(t, wiretest.Reply{Status: 400, Body: `{"error":{"message":"no","type":"invalid_request_error","param":"` + param + `"}}`})
		got := wiretest.Failure(t, connect(t, server), reasoned())
		if got.Status != 400 || got.Retryable || len(server.Requests()) != requests {
			t.Errorf("%s: %+v after %d requests", param, got, len(server.Requests()))
		}
	}
}

// An effort that the caller asked for is never dropped.
func TestARefusedEffortIsAnError(t *testing.T) {
	server := wiretest.Serve(t, wiretest.Reply{Status: 400, Body: `{"error":{"message":"Unsupported parameter: 'reasoning.effort' is not supported with this model.","type":"invalid_request_error","param":"reasoning.effort","code":"unsupported_parameter"}}`})
	req := wiretest.Hello()
	req.Sampling.Effort = model.EffortHigh
	got := wiretest.Failure(t, connect(t, server), req)
	if got.Retryable || !strings.HasSuffix(got.Message, "change the effort in the sampling of this model") || len(server.Requests()) != 1 {
		t.Errorf("%+v after %d requests", got, len(server.Requests()))
	}
}

// A server may notice within the stream that it cannot read earlier reasoning. The agent then
// repeats the request, which omits that reasoning.
func TestReasoningThatCannotBeReadIsOmittedByTheRetry(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/failed_unreadable.txtar")
	if err != nil {
		t.Fatal(err)
	}
	server := wiretest.Serve(t, wiretest.Reply{Body: string(archive.Files[0].Data)})
	m := connect(t, server)
	if got := wiretest.Failure(t, m, reasoned()); !got.Retryable || got.Code != "invalid_encrypted_content" {
		t.Fatalf("got %+v", got)
	}
	if got := wiretest.Failure(t, m, reasoned()); got.Retryable {
		t.Fatalf("got %+v", got)
	}
	if got, want := extras(t, server), []string{"include summary rs_1", "include summary"}; !slices.Equal(got, want) {
		t.Errorf("the requests had %q, want %q", got, want)
	}
}

// Servers other than OpenAI's refuse PDF files.
func TestRefusesAttachments(t *testing.T) {
	wiretest.RefusesAttachments(t, connect, "application/pdf", "audio/mpeg", "video/mp4")
}

func TestFeatures(t *testing.T) {
	for base, official := range map[string]bool{"": true, "https://x.openai.azure.com/openai/v1": true, "http://127.0.0.1:1/v1": false} {
		m, err := responses.New(responses.Config{Model: "m", BaseURL: base})
		if err != nil {
			t.Fatal(err)
		}
		got := model.FeaturesOf(m)
		if !got.Schema || slices.Contains(got.Attachments, "application/pdf") != official || !slices.Contains(got.Attachments, "image/png") || !slices.Contains(got.Attachments, "text/*") {
			t.Errorf("%q: %+v", base, got)
		}
		if most := m.MaxTools(); (most == 128) != official {
			t.Errorf("%q: at most %d tools", base, most)
		}
	}
}

// Refuses gives the reason for each tool that requests omit.
func TestRefusedTools(t *testing.T) {
	m, err := responses.New(responses.Config{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	wiretest.RefusedTools(t, m)
}

// The API refuses a request that has an unfit tool, so requests omit it.
func TestOneUnfitToolDoesNotSpoilTheRequest(t *testing.T) {
	req := wiretest.Hello()
	req.Tools = wiretest.UnfitTools()
	server := wiretest.Serve(t, wiretest.Reply{})
	wiretest.Failure(t, connect(t, server), req)
	var sent struct {
		Tools []struct {
			Name   string
			Strict *bool
		}
	}
	if err := json.Unmarshal(server.Requests()[0].Body, &sent); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range sent.Tools {
		names = append(names, tool.Name)
		if tool.Strict == nil || *tool.Strict {
			t.Errorf("%s is strict", tool.Name)
		}
	}
	if got := strings.Join(names, " "); got != "choice spaced long" {
		t.Errorf("sent %s", got)
	}
}
