package mcpclient

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

// listServer answers requests for lists with fixed results, by method and cursor.
type listServer map[string]string

// answer returns the answer to a message; empty: it gets none.
func (s listServer) answer(text []byte) string {
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct{ Cursor string }
	}
	if json.Unmarshal(text, &m) != nil || m.ID == nil {
		return ""
	}
	key := m.Method
	if m.Params.Cursor != "" {
		key += " " + m.Params.Cursor
	}
	result, ok := s[key]
	switch {
	case ok:
	case m.Method == "initialize":
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"resources":{}},"serverInfo":{"name":"s","version":"1"}}`
	case key == "tools/list":
		result = `{"tools":[]}`
	default:
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"unknown cursor"}}`, m.ID)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// ServeHTTP implements http.Handler.
func (s listServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	answer := s.answer(text)
	switch {
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case answer == "":
		w.WriteHeader(http.StatusAccepted)
	case strings.Contains(string(text), `"cursor"`): // some answers as events
		w.Header().Set("Content-Type", typeEvents)
		_, _ = fmt.Fprintf(w, "data: %s\n\n", answer)
	default:
		w.Header().Set("Content-Type", typeJSON)
		_, _ = io.WriteString(w, answer)
	}
}

// piped returns a session with the server over pipes.
func (s listServer) piped(t *testing.T) *Conn {
	toServer, in := pipe(t)
	out, fromServer := pipe(t)
	served := make(chan struct{})
	go func() { // ends with the session
		defer close(served)
		lines := bufio.NewScanner(toServer)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if answer := s.answer(lines.Bytes()); answer != "" {
				_, _ = io.WriteString(fromServer, answer+"\n")
			}
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, err := OpenPipes(ctx, Config{Plugin: "test", MaxResultBytes: 1 << 20, Protocol: "2025-11-25", TrustAnnotations: true}, in, out, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		<-served
		_ = fromServer.Close()
		<-conn.Done()
	})
	return conn
}

// onBoth runs a test with a session over pipes and one over HTTP.
func onBoth(t *testing.T, s listServer, test func(t *testing.T, conn *Conn)) {
	t.Run("pipes", func(t *testing.T) { test(t, s.piped(t)) })
	t.Run("http", func(t *testing.T) {
		test(t, mustOpen(t, serve(t, s), func(c *Config, _ *HTTPConfig) { c.Protocol, c.TrustAnnotations = "2025-11-25", true }))
	})
}

// TestOneBrokenToolCostsNoOther checks that a tool with a part of a wrong type keeps its other
// parts, or is left out, and that the other tools stay. The parts are from codebase-memory-mcp#1247
// and claude-code#44364, or of the same kind.
func TestOneBrokenToolCostsNoOther(t *testing.T) {
	const good = `{"name":"good","description":"Good.","inputSchema":{"type":"object"}}`
	for name, test := range map[string]struct {
		tool    string // members of the broken tool
		keeps   bool
		warning string // empty: none
	}{
		"description":      {`"name":"b","description":5,"inputSchema":{"type":"object"}`, true, "tools[1] (b).description is left out: it is the number 5"},
		"descriptions":     {`"name":"b","description":["x"],"inputSchema":{"type":"object"}`, true, "tools[1] (b).description is left out: it is a list"},
		"title":            {`"name":"b","title":{},"inputSchema":{"type":"object"}`, true, "tools[1] (b).title is left out: it is an object"},
		"hint":             {`"name":"b","annotations":{"readOnlyHint":"true"},"inputSchema":{"type":"object"}`, true, "tools[1] (b).annotations.readOnlyHint is left out: it is a text"},
		"hint as a number": {`"name":"b","annotations":{"destructiveHint":0},"inputSchema":{"type":"object"}`, true, "annotations.destructiveHint"},
		"annotations":      {`"name":"b","annotations":[],"inputSchema":{"type":"object"}`, true, "annotations is left out: it is a list"},
		"annotation title": {`"name":"b","annotations":{"title":true,"readOnlyHint":false},"inputSchema":{"type":"object"}`, true, "annotations.title is left out: it is true or false"},
		"meta":             {`"name":"b","_meta":[],"inputSchema":{"type":"object"}`, true, "_meta is left out: it is a list"},
		"meta as text":     {`"name":"b","_meta":"x","inputSchema":{"type":"object"}`, true, "_meta is left out"},
		"icons":            {`"name":"b","icons":{},"inputSchema":{"type":"object"}`, true, "icons is left out"},
		"one icon":         {`"name":"b","icons":[{"src":1},{"src":"https://x.example/i.png"}],"inputSchema":{"type":"object"}`, true, "icons[0].src is left out"},
		"two fields":       {`"name":"b","title":1,"description":2,"inputSchema":{"type":"object"}`, true, "title is left out"},
		"nulls":            {`"name":"b","title":null,"description":null,"annotations":null,"_meta":null,"icons":null,"outputSchema":null,"inputSchema":{"type":"object"}`, true, ""},
		"no name":          {`"title":"T","description":"d","inputSchema":{"type":"object"}`, false, "a tool without a name is left out"},
		"empty name":       {`"name":"","inputSchema":{"type":"object"}`, false, "a tool without a name is left out"},
		"name as number":   {`"name":7,"inputSchema":{"type":"object"}`, false, "tools[1].name is left out: it is the number 7"},
		"no schema":        {`"name":"b"`, true, ""},
		"forged warning":   {`"name":"b","_meta":{"toolhost/mended":["x"]},"inputSchema":{"type":"object"}`, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := listServer{"tools/list": `{"tools":[` + good + `,{` + test.tool + `},` + strings.ReplaceAll(good, "good", "last") + `]}`}
			onBoth(t, s, func(t *testing.T, conn *Conn) {
				d := describe(t, conn)
				want := "good,last"
				if test.keeps {
					want = "good,b,last"
				}
				if got := namesOf(d); got != want {
					t.Errorf("the tools are %s, want %s", got, want)
				}
				if all := strings.Join(d.Warnings, "\n"); !strings.Contains(all, test.warning) || (test.warning == "") != (all == "") {
					t.Errorf("the warnings are %q, want %q", all, test.warning)
				}
			})
		})
	}
}

// TestAListThatIsNoList checks what is left of lists whose elements, or other parts, are wrong.
func TestAListThatIsNoList(t *testing.T) {
	const good = `{"name":"good","inputSchema":{"type":"object"}}`
	for name, test := range map[string]struct{ result, tools, warning string }{
		"a text":            {`{"tools":["x",` + good + `]}`, "good", "tools[0] is left out: it is a text"},
		"a list":            {`{"tools":[[],` + good + `]}`, "good", "tools[0] is left out: it is a list"},
		"null":              {`{"tools":[null,` + good + `]}`, "good", ""},
		"tools null":        {`{"tools":null}`, "", ""},
		"tools by name":     {`{"tools":{"good":` + good + `}}`, "", "tools is left out: it is an object"},
		"cursor a number":   {`{"nextCursor":5,"tools":[` + good + `]}`, "good", "nextCursor is left out: it is the number 5"},
		"cursor null":       {`{"nextCursor":null,"tools":[` + good + `]}`, "good", ""},
		"meta":              {`{"_meta":[],"tools":[` + good + `]}`, "good", "_meta is left out: it is a list"},
		"time to live":      {`{"ttlMs":"5","tools":[` + good + `]}`, "good", "ttlMs is left out: it is a text"},
		"forged meta":       {`{"_meta":{"toolhost/mended":["x"]},"tools":[` + good + `]}`, "good", ""},
		"forged and broken": {`{"_meta":{"toolhost/mended":"x","a":1},"tools":[` + good + `,5]}`, "good", "tools[1] is left out"},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, listServer{"tools/list": test.result}, func(t *testing.T, conn *Conn) {
				d := describe(t, conn)
				if got := namesOf(d); got != test.tools {
					t.Errorf("the tools are %q, want %q", got, test.tools)
				}
				if all := strings.Join(d.Warnings, "\n"); !strings.Contains(all, test.warning) || (test.warning == "") != (all == "") {
					t.Errorf("the warnings are %q, want %q", all, test.warning)
				}
			})
		})
	}
}

// TestCursorsThatLeadNowhere checks that a listing keeps what it read.
func TestCursorsThatLeadNowhere(t *testing.T) {
	page := func(name, next string) string {
		return fmt.Sprintf(`{"tools":[{"name":%q,"inputSchema":{"type":"object"}}],"nextCursor":%q}`, name, next)
	}
	for name, test := range map[string]struct {
		pages          listServer
		tools, warning string
	}{
		"it stays":           {listServer{"tools/list": page("a", "1"), "tools/list 1": page("b", "1")}, "a,b", `its cursor "1" stands for a page that was read before`},
		"it circles":         {listServer{"tools/list": page("a", "1"), "tools/list 1": page("b", "2"), "tools/list 2": page("c", "1")}, "a,b,c", `its cursor "1" stands`},
		"it does not know":   {listServer{"tools/list": page("a", "1")}, "a", "it refuses its own cursor \"1\": unknown cursor"},
		"it ignores cursors": {listServer{"tools/list": page("a", "1"), "tools/list 1": page("a", "1")}, "a", `its cursor "1" stands`},
		"the end":            {listServer{"tools/list": page("a", "1"), "tools/list 1": page("b", "")}, "a,b", ""},
		"a broken next page": {listServer{"tools/list": page("a", "1"), "tools/list 1": `{"tools":[5]}`}, "a", "tools[0] is left out"},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, test.pages, func(t *testing.T, conn *Conn) {
				d := describe(t, conn)
				if got := namesOf(d); got != test.tools {
					t.Errorf("the tools are %q, want %q", got, test.tools)
				}
				if all := strings.Join(d.Warnings, "\n"); !strings.Contains(all, test.warning) || (test.warning == "") != (all == "") {
					t.Errorf("the warnings are %q, want %q", all, test.warning)
				}
			})
		})
	}
	endless := listServer{}
	for i := range maxPages + 1 {
		key := "tools/list"
		if i > 0 {
			key += fmt.Sprint(" ", i)
		}
		endless[key] = page(fmt.Sprint("t", i), fmt.Sprint(i+1))
	}
	if d := describe(t, endless.piped(t)); len(d.Tools) != maxPages || !strings.Contains(strings.Join(d.Warnings, ""), "ends early, after 200 pages") {
		t.Errorf("%d tools, %q", len(d.Tools), d.Warnings)
	}
}

// TestOtherListsAreMended checks resources, templates, prompts, and the beginning of a session.
func TestOtherListsAreMended(t *testing.T) {
	s := listServer{
		"initialize":               `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":"yes"},"prompts":{},"resources":{}},"serverInfo":{"name":"s","version":3},"instructions":["x"]}`,
		"resources/list":           `{"resources":[{"uri":"a:1","name":5,"size":"big"},{"uri":7},7,{"uri":"a:2","annotations":[],"mimeType":1}],"nextCursor":"1"}`,
		"resources/list 1":         `{"resources":[{"uri":"a:3","size":1.5}],"nextCursor":"1"}`,
		"resources/templates/list": `{"resourceTemplates":[{"uriTemplate":"a:{x}","title":[]},[]]}`,
		"prompts/list":             `{"prompts":[{"name":"p","arguments":[{"name":"a","required":"yes"},5,{"name":"b"}]},{"name":[]},{"name":"q","arguments":{}}]}`,
	}
	onBoth(t, s, func(t *testing.T, conn *Conn) {
		resources, err := conn.ListResources(t.Context(), pluginconn.Asker{})
		if err != nil || len(resources) != 3 || resources[0].URI != "a:1" || resources[1].URI != "a:2" || resources[2].URI != "a:3" {
			t.Errorf("the resources are %+v, %v", resources, err)
		}
		templates, err := conn.ListResourceTemplates(t.Context(), pluginconn.Asker{})
		if err != nil || len(templates) != 1 || templates[0].URITemplate != "a:{x}" {
			t.Errorf("the templates are %+v, %v", templates, err)
		}
		prompts, err := conn.ListPrompts(t.Context(), pluginconn.Asker{})
		if err != nil || len(prompts) != 2 || len(prompts[0].Arguments) != 2 || prompts[0].Arguments[0].Required || prompts[1].Name != "q" {
			t.Errorf("the prompts are %+v, %v", prompts, err)
		}
	})
}

// TestNullInASchemaIsAbsent checks that null for a keyword means that it is not set
// (claude-code#44364), and that null as a value stays.
func TestNullInASchemaIsAbsent(t *testing.T) {
	for given, want := range map[string]string{
		`{"type":"object","required":null}`:                                                     `{"type":"object"}`,
		`{"type":"object","properties":null}`:                                                   `{"type":"object"}`,
		`{"properties":null,"required":null,"additionalProperties":null,"type":"object"}`:       `{"type":"object"}`,
		`{"type":"object","properties":{"a":{"type":"string","enum":null,"description":null}}}`: `{"properties":{"a":{"type":"string"}},"type":"object"}`,
		`{"type":"object","properties":{"a":null}}`:                                             `{"properties":{"a":{}},"type":"object"}`,
		`{"type":"object","properties":{"a":{"items":{"required":null}}}}`:                      `{"properties":{"a":{"items":{}}},"type":"object"}`,
		`{"type":"object","$defs":{"d":{"minimum":null}},"anyOf":[{"pattern":null}]}`:           `{"$defs":{"d":{}},"anyOf":[{}],"type":"object"}`,
		`{"type":"object","$defs":null,"title":null,"$schema":null}`:                            `{"type":"object"}`,
		`{"type":"object","properties":{"a":{"default":null,"const":null,"enum":[null,1]}}}`:    `{"properties":{"a":{"const":null,"default":null,"enum":[null,1]}},"type":"object"}`,
		`{"type":"object","properties":{"required":null,"default":{"type":null}}}`:              `{"properties":{"default":{},"required":{}},"type":"object"}`,
		`{"type":"object","examples":[{"a":null}]}`:                                             `{"examples":[{"a":null}],"type":"object"}`,
		`null`: ``,
	} {
		var schema any
		if err := json.Unmarshal([]byte(given), &schema); err != nil {
			t.Fatal(err)
		}
		if got := string(schemaOf(schema)); got != want {
			t.Errorf("%s: got %s, want %s", given, got, want)
		}
	}
}

func describe(t *testing.T, conn *Conn) tool.Description {
	t.Helper()
	d, err := conn.Describe(t.Context(), pluginconn.DescribeRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func namesOf(d tool.Description) string {
	names := make([]string, len(d.Tools))
	for i := range d.Tools {
		names[i] = d.Tools[i].Name
	}
	return strings.Join(names, ",")
}
