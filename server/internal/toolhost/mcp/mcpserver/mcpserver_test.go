package mcpserver_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/server/internal/toolhost/mcp/mcpserver"
	"github.com/toolhost/toolhost/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// versions are the versions of the protocol that every test runs with.
var versions = []string{"2025-11-25", "2026-07-28"}

func eachVersion(t *testing.T, test func(t *testing.T, version string)) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) { test(t, version) })
	}
}

// fixture is a server whose tools are those of a host.
type fixture struct {
	*mcpserver.Server
	host   *hosttest.Toolhost
	log    *strings.Builder
	hangUp map[*mcp.ClientSession]func() // breaks the connection of a client
}

func newFixture(t *testing.T, change func(*mcpserver.Config), tools ...hosttest.Tool) *fixture {
	t.Helper()
	if len(tools) == 0 {
		tools = hosttest.Tools()
	}
	f := &fixture{host: hosttest.New(t, nil, tools...), log: &strings.Builder{}, hangUp: map[*mcp.ClientSession]func(){}}
	config := mcpserver.Config{
		Tools: f.host, Logger: slog.New(slog.NewTextHandler(f.log, nil)),
		Visible: func(s string) string { return strings.ReplaceAll(s, "\x1b", `\x1b`) },
	}
	if change != nil {
		change(&config)
	}
	f.Server = mcpserver.New(config)
	return f
}

// connect connects a client with a version of the protocol, over pipes as on standard input and
// output.
func (f *fixture) connect(t *testing.T, version string, options *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- f.Run(t.Context(), fromClient, toClient) }()
	client := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, options)
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	if got := session.InitializeResult().ProtocolVersion; got != version {
		t.Fatalf("the version is %s, want %s", got, version)
	}
	f.hangUp[session] = func() { _ = toServer.Close() }
	t.Cleanup(func() {
		f.hangUp[session]() // Close alone would wait for the calls of the client
		_ = session.Close()
		if err := <-served; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return session
}

// call calls a tool, and fails the test if the request fails.
func call(t *testing.T, s *mcp.ClientSession, name string, arguments map[string]any, meta mcp.Meta) *mcp.CallToolResult {
	t.Helper()
	result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Meta: meta, Name: name, Arguments: arguments}) // null if they are nil
	if err != nil {
		t.Fatalf("calling %s: %v", name, err)
	}
	return result
}

// text returns the texts of a result.
func text(r *mcp.CallToolResult) string {
	var all []string
	for _, c := range r.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			all = append(all, c.Text)
		}
	}
	return strings.Join(all, "\n")
}

func TestTools(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		tools := hosttest.Tools()
		for i := range tools {
			if s := &tools[i].Spec; s.Name == "echo" {
				s.DisplayName, s.InputExamples = "Echo", []tool.InputExample{{Arguments: json.RawMessage(`{"text":"hi"}`)}}
			}
		}
		s := newFixture(t, nil, tools...).connect(t, version, nil)
		listed, err := s.ListTools(t.Context(), nil)
		if err != nil || len(listed.Tools) != len(tools) {
			t.Fatalf("%d tools, %v", len(listed.Tools), err)
		}
		byName := map[string]*mcp.Tool{}
		for _, listed := range listed.Tools {
			byName[listed.Name] = listed
		}
		echo, danger := byName["echo"], byName["danger"]
		if echo.Title != "Echo" || !echo.Annotations.ReadOnlyHint || *echo.Annotations.DestructiveHint || !*danger.Annotations.DestructiveHint {
			t.Errorf("echo is %+v with %+v, danger has %+v", echo, echo.Annotations, danger.Annotations)
		}
		schema, _ := json.Marshal(echo.InputSchema)
		if !strings.Contains(string(schema), `"examples":[{"text":"hi"}]`) || echo.Meta["toolhost/plugin"] != hosttest.PluginName {
			t.Errorf("the schema of echo is %s, and _meta %v", schema, echo.Meta)
		}
	})
}

func TestResults(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		s := newFixture(t, nil).connect(t, version, nil)
		if r := call(t, s, "echo", map[string]any{"text": "hello"}, nil); text(r) != "hello" || r.IsError || r.Meta["toolhost/callId"] == "" {
			t.Errorf("echo: %+v", r)
		}
		if r := call(t, s, "fail", map[string]any{"message": "no luck"}, nil); text(r) != "no luck" || !r.IsError {
			t.Errorf("fail: %+v", r)
		}
		r := call(t, s, "inspect", nil, mcp.Meta{"toolhost/callId": "one"})
		if object, _ := r.StructuredContent.(map[string]any); object["call_id"] != "one" || !strings.Contains(text(r), `"call_id":"one"`) {
			t.Errorf("inspect: %v, %s", r.StructuredContent, text(r))
		}
		r = call(t, s, "break", map[string]any{"kind": "crashed"}, nil)
		failure, _ := r.Meta["toolhost/error"].(map[string]any)
		if !r.IsError || failure["kind"] != "crashed" || failure["retryAfterMs"] != 1500.0 || !strings.Contains(text(r), "broken as asked") {
			t.Errorf("break: %+v", r)
		}
		r = call(t, s, "large", map[string]any{"bytes": 100, "kind": "image"}, nil)
		if image, ok := r.Content[1].(*mcp.ImageContent); !ok || len(image.Data) != 100 || image.MIMEType != "image/png" {
			t.Errorf("large: %+v", r)
		}
		r = call(t, s, "large", map[string]any{"bytes": 100, "kind": "file"}, nil)
		if file, ok := r.Content[1].(*mcp.EmbeddedResource); !ok || len(file.Resource.Blob) != 100 || file.Resource.URI != "toolhost://file/large.bin" {
			t.Errorf("large: %+v", r)
		}
		if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "nothing"}); err == nil || !strings.Contains(err.Error(), "unknown tool") {
			t.Errorf("an unknown tool: %v", err)
		}
	})
}

// Clients show their model nothing but the structured content of a result that has some. So what
// it does not have must not be beside it, unless the tool promised it. Nothing is lost in the
// content.
func TestStructuredContentHidesNothing(t *testing.T) {
	object, list, more := tool.JSON(json.RawMessage(`{"exit":0}`)), tool.JSON(json.RawMessage(`[1,2]`)), tool.Text("more")
	image := tool.Content{Kind: tool.ContentImage, Data: []byte("x"), MediaType: "image/png"}
	const several, promise = "The result has several parts:", "The tool promises structured content, and its result has none. What it returned follows."
	for name, test := range map[string]struct {
		content                  []tool.Content
		plain, promised          string   // the structured content without and with a schema
		plainTexts, promiseTexts []string // empty: those of the content
	}{
		"an object":           {content: []tool.Content{object}, plain: `{"exit":0}`, promised: `{"exit":0}`},
		"an object and text":  {content: []tool.Content{object, more}, promised: `{"exit":0}`},
		"a number":            {content: []tool.Content{tool.JSON(json.RawMessage("42"))}, plain: `{"result":42}`, promiseTexts: []string{promise, "42"}},
		"a list and text":     {content: []tool.Content{list, more}, plainTexts: []string{several, "[1,2]", "more"}, promiseTexts: []string{promise, "[1,2]", "more"}},
		"an image and object": {content: []tool.Content{image, object}, promised: `{"exit":0}`},
		"text":                {content: []tool.Content{more}, promiseTexts: []string{promise, "more"}},
	} {
		var texts []string
		for _, c := range test.content {
			if c.Kind != tool.ContentImage {
				texts = append(texts, c.Text+string(c.JSON))
			}
		}
		for _, schema := range []string{"", `{"type":"object"}`} {
			want, wantTexts := test.plain, test.plainTexts
			if schema != "" {
				want, wantTexts = test.promised, test.promiseTexts
			}
			if wantTexts == nil {
				wantTexts = texts
			}
			shown := hosttest.Tools()[0]
			shown.Spec.Name, shown.Spec.InputSchema, shown.Spec.OutputSchema = "show", json.RawMessage(`{"type":"object"}`), json.RawMessage(schema)
			shown.Run = func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
				return tool.Result{Content: test.content}, nil
			}
			lenient := hosttest.New(t, func(c *host.Config) { c.KeepBadOutput = true }, shown)
			f := newFixture(t, func(c *mcpserver.Config) { c.Tools = lenient })
			for _, version := range versions {
				r := call(t, f.connect(t, version, nil), "show", nil, nil)
				got := ""
				if r.StructuredContent != nil {
					wire, _ := json.Marshal(r.StructuredContent) // it was JSON
					got = string(wire)
				}
				if all := strings.Join(wantTexts, "\n"); got != want || text(r) != all || r.IsError != (schema != "" && want == "") {
					t.Errorf("%s, schema %q, %s: the structured content is %s, want %s; the texts are %q, want %q; failed: %v", name, schema, version, got, want, text(r), all, r.IsError)
				}
			}
		}
	}
}

// A tool that promises structured content and gives none must not make the client fail.
func TestBrokenPromise(t *testing.T) {
	tools := hosttest.Tools()
	for i := range tools {
		if s := &tools[i].Spec; s.Name == "echo" || s.Name == "inspect" {
			s.OutputSchema = json.RawMessage(`{"type":"object"}`)
		}
	}
	lenient := hosttest.New(t, func(c *host.Config) { c.KeepBadOutput = true }, tools...)
	s := newFixture(t, func(c *mcpserver.Config) { c.Tools = lenient }).connect(t, versions[0], nil)
	if r := call(t, s, "echo", map[string]any{"text": "hello"}, nil); !r.IsError || !strings.Contains(text(r), "hello") || !strings.Contains(text(r), "promises") {
		t.Errorf("echo: %+v", r)
	}
	if r := call(t, s, "inspect", nil, nil); r.IsError || r.StructuredContent == nil {
		t.Errorf("inspect: %+v", r)
	}
}

// The SDK panics for some schemas. Such a tool is left out, and the others work.
func TestUnusableSchema(t *testing.T) {
	tools := hosttest.Tools()
	tools[0].Spec.InputSchema = json.RawMessage(`{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A"}}}`)
	f := newFixture(t, nil, tools...)
	s := f.connect(t, versions[0], nil)
	listed, err := s.ListTools(t.Context(), nil)
	if err != nil || len(listed.Tools) != len(tools)-1 {
		t.Errorf("%d tools, %v", len(listed.Tools), err)
	}
	if !strings.Contains(f.log.String(), tools[0].Spec.Name) {
		t.Errorf("the log does not name the tool: %s", f.log)
	}
}

func TestSearch(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		s := newFixture(t, func(c *mcpserver.Config) { c.Search = true }).connect(t, version, nil)
		listed, err := s.ListTools(t.Context(), nil)
		if err != nil || len(listed.Tools) != 2 {
			t.Fatalf("%d tools, %v", len(listed.Tools), err)
		}
		found := call(t, s, "find_tools", map[string]any{"query": "echo"}, nil)
		if !strings.Contains(text(found), `"name":"echo"`) || !strings.Contains(text(found), `"inputSchema"`) {
			t.Errorf("found: %s", text(found))
		}
		r := call(t, s, "call_tool", map[string]any{"name": "echo", "arguments": map[string]any{"text": "hello"}}, nil)
		if text(r) != "hello" {
			t.Errorf("called: %+v", r)
		}
		if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "call_tool", Arguments: map[string]any{"name": "nothing"}}); err == nil {
			t.Error("call_tool calls a tool that does not exist")
		}
		if r := call(t, s, "find_tools", map[string]any{"query": 7}, nil); !r.IsError {
			t.Errorf("a query that is no text: %+v", r)
		}
	})
}

// A server offers, finds and calls the tools of its choice, and no others.
func TestChoice(t *testing.T) {
	no := false
	choices := map[string]tool.Query{"by name": {Names: []string{"echo", "nothing"}}, "by what it declares": {Dangerous: &no, Names: []string{"echo", "danger"}}}
	for name, choice := range choices {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t, func(c *mcpserver.Config) { c.Choice = choice }).connect(t, versions[0], nil)
			listed, err := s.ListTools(t.Context(), nil)
			if err != nil || len(listed.Tools) != 1 || listed.Tools[0].Name != "echo" {
				t.Errorf("%+v, %v", listed, err)
			}
			if r := call(t, s, "echo", map[string]any{"text": "hello"}, nil); text(r) != "hello" {
				t.Errorf("echo: %+v", r)
			}
			if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "danger"}); err == nil {
				t.Error("a tool outside of the choice is called")
			}

			s = newFixture(t, func(c *mcpserver.Config) { c.Choice, c.Search = choice, true }).connect(t, versions[0], nil)
			found := call(t, s, "find_tools", map[string]any{"query": "echo danger"}, nil)
			if !strings.Contains(text(found), `"name":"echo"`) || strings.Contains(text(found), `"name":"danger"`) {
				t.Errorf("found: %s", text(found))
			}
			if r := call(t, s, "call_tool", map[string]any{"name": "echo", "arguments": map[string]any{"text": "hello"}}, nil); text(r) != "hello" {
				t.Errorf("call_tool: %+v", r)
			}
			for _, other := range []string{"danger", "nothing"} {
				_, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "call_tool", Arguments: map[string]any{"name": other}})
				if err == nil || !strings.Contains(err.Error(), "find_tools") {
					t.Errorf("call_tool calls %s: %v", other, err)
				}
			}
		})
	}
}

// A toolhost that does not answer gives an error for each request, and the session stays.
func TestNoToolhost(t *testing.T) {
	down := &unreachable{Toolhost: hosttest.New(t, nil, hosttest.Tools()...), down: true}
	f := newFixture(t, func(c *mcpserver.Config) { c.Tools = down })
	s := f.connect(t, versions[0], nil)
	if _, err := s.ListTools(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "no toolhost answers") {
		t.Errorf("listing: %v", err)
	}
	if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "x"}}); err == nil || !strings.Contains(err.Error(), "no toolhost answers") {
		t.Errorf("calling: %v", err)
	}
	down.down = false
	if r := call(t, s, "echo", map[string]any{"text": "hello"}, nil); text(r) != "hello" {
		t.Errorf("after the start of the toolhost: %+v", r)
	}
}

// unreachable is a host that may be down.
type unreachable struct {
	*hosttest.Toolhost
	down bool
}

func (u *unreachable) ListTools(ctx context.Context, q tool.Query) ([]tool.Info, error) {
	if u.down {
		return nil, tool.Errorf(tool.KindUnavailable, "no toolhost answers")
	}
	return u.Toolhost.ListTools(ctx, q)
}
