package mcpserver_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/server/internal/toolhost/mcp/mcpserver"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

//lint:file-ignore SA1019 Servers and clients of 2025-11-25 use sampling and roots, which 2026-07-28 deprecates.

// answering are the options of a client that answers everything.
func answering(person *mcp.ElicitResult, asked *[]string) *mcp.ClientOptions {
	return &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{RootsV2: &mcp.RootCapabilities{}},
		ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			*asked = append(*asked, req.Params.Message)
			return person, nil
		},
		CreateMessageHandler: func(_ context.Context, req *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			*asked = append(*asked, fmt.Sprint(req.Params.MaxTokens, " ", req.Params.Messages[0].Content.(*mcp.TextContent).Text))
			return &mcp.CreateMessageResult{Role: "assistant", Model: "m", Content: &mcp.TextContent{Text: "Paris"}, StopReason: "endTurn"}, nil
		},
	}
}

func accepted(text string) *mcp.ElicitResult {
	return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": text}}
}

// A client's user and model answer a tool. The message names the plugin and is escaped.
func TestQuestions(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		for name, test := range map[string]struct {
			person     *mcp.ElicitResult
			kind, want string
		}{
			"accept":  {accepted("red"), "person", `accept {"answer":"red"}`},
			"decline": {&mcp.ElicitResult{Action: "decline"}, "person", "decline "},
			"cancel":  {&mcp.ElicitResult{Action: "cancel"}, "person", "dismiss "},
			"model":   {nil, "model", "m: Paris"},
		} {
			var asked []string
			s := newFixture(t, nil).connect(t, version, answering(test.person, &asked))
			r := call(t, s, "ask", map[string]any{"kind": test.kind, "message": "Which\x1b[2J?"}, nil)
			if text(r) != test.want || r.IsError {
				t.Errorf("%s: %q", name, text(r))
			}
			want := "The plugin " + hosttest.PluginName + " asks for its tool ask:\n\nWhich\\x1b[2J?"
			if test.kind == "model" {
				want = "7 Which\x1b[2J?"
			}
			if len(asked) != 1 || asked[0] != want {
				t.Errorf("%s: asked %q", name, asked)
			}
		}
	})
}

// A tool gets unsupported if the client cannot answer.
func TestClientThatCannotAnswer(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		s := newFixture(t, nil).connect(t, version, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
		for _, kind := range []string{"person", "model"} {
			if r := call(t, s, "ask", map[string]any{"kind": kind, "message": "Which?"}, nil); text(r) != "unsupported" || !r.IsError {
				t.Errorf("%s: %q", kind, text(r))
			}
		}
	})
}

// newTrio returns a fixture with the tool trio.
func newTrio(t *testing.T) *fixture {
	t.Helper()
	tools := hosttest.Tools()
	spec := tools[slices.IndexFunc(tools, func(t hosttest.Tool) bool { return t.Spec.Name == "ask" })].Spec
	spec.Name = "trio"
	h := hosttest.New(t, func(c *host.Config) {
		launch := c.Launch
		c.Launch = func(ctx context.Context, p *catalog.Plugin, instance string) (host.Process, error) {
			process, err := launch(ctx, p, instance)
			return trioProcess{process}, err
		}
	}, append(tools, hosttest.Tool{Spec: spec})...)
	return newFixture(t, func(c *mcpserver.Config) { c.Tools = h })
}

// trioProcess has the tool trio. Its questions have names and ask for roots, as only those of MCP
// servers do.
type trioProcess struct{ host.Process }

func (p trioProcess) Conn() pluginconn.Conn { return trioConn{p.Process.Conn()} }

type trioConn struct{ pluginconn.Conn }

func (c trioConn) Start(ctx context.Context, start pluginconn.Start) (pluginconn.Call, error) {
	if start.Tool != "trio" {
		return c.Conn.Start(ctx, start)
	}
	person := func(id uint32, key string) tool.Event {
		return tool.Event{Question: &tool.Question{ID: id, Key: key, Person: &tool.PersonQuestion{Message: "Who?"}}}
	}
	call := &trioCall{events: make(chan tool.Event, 10)}
	call.events <- person(0, "approval")
	call.events <- tool.Event{Question: &tool.Question{ID: 1, Key: "what", Roots: &tool.RootsQuestion{}}}
	call.events <- tool.Event{Question: &tool.Question{ID: 2, Key: "who", Model: &tool.ModelQuestion{
		Messages: []tool.ModelMessage{{Role: tool.ModelUser, Content: []tool.Content{tool.Text("What?")}}},
	}}}
	call.last = person(3, "who")
	return call, nil
}

// trioCall asks a person, a model and for roots at the same time, and then a person again with the
// name of the first question.
type trioCall struct {
	pluginconn.Call // nil: the arguments come with the start
	events          chan tool.Event
	last            tool.Event

	mu      sync.Mutex
	count   int
	answers [4]tool.Answer // by question
}

func (c *trioCall) Next(ctx context.Context) (tool.Event, error) {
	select {
	case e := <-c.events:
		return e, nil
	case <-ctx.Done():
		return tool.Event{}, context.Cause(ctx)
	}
}

func (c *trioCall) Answer(_ context.Context, number uint32, a tool.Answer) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[number] = a
	c.count++
	switch all := c.answers; c.count {
	case 3:
		c.events <- c.last
	case 4:
		result := tool.TextResult(fmt.Sprintf("%s %s %s %s", all[0].Person.Content, all[1].Roots.Roots[0].URI, all[2].Model.Text(), all[3].Person.Content))
		c.events <- tool.Event{Ended: &tool.Outcome{Result: result}}
	}
	return nil
}

func (c *trioCall) Cancel(reason string) {
	c.events <- tool.Event{Ended: &tool.Outcome{Err: tool.Errorf(tool.KindCancelled, "%s", reason)}}
}

func (*trioCall) Close() {}

// byHand are the options of a client that answers in later requests itself.
func byHand() *mcp.ClientOptions {
	return &mcp.ClientOptions{
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
		Capabilities: &mcp.ClientCapabilities{
			RootsV2: &mcp.RootCapabilities{}, Sampling: &mcp.SamplingCapabilities{}, Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}},
		},
	}
}

var whatEver = map[string]any{"kind": "person", "message": "Which?"}

// round sends a request of a conversation.
func round(t *testing.T, s *mcp.ClientSession, name string, arguments map[string]any, state string, given mcp.InputResponseMap) (*mcp.CallToolResult, error) {
	t.Helper()
	return s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments, RequestState: state, InputResponses: given})
}

// Questions that a tool asks together are in one result. Those that a request leaves out, or
// answers with something that does not fit, are asked again. No question has the name of an
// approval.
func TestRounds(t *testing.T) { synctest.Test(t, testRounds) }

func testRounds(t *testing.T) {
	f := newTrio(t)
	s := f.connect(t, versions[1], byHand())
	model := &mcp.CreateMessageWithToolsResult{Role: "assistant", Model: "m", Content: []mcp.Content{&mcp.TextContent{Text: "Paris"}}}
	first, err := round(t, s, "trio", whatEver, "", nil)
	if err != nil || !first.NeedsInput() || len(first.InputRequests) != 3 || first.InputRequests["approval"] != nil {
		t.Fatalf("%+v, %v", first, err)
	}
	person := ""
	for name, request := range first.InputRequests {
		if _, ok := request.(*mcp.ElicitParams); ok {
			person = name
		}
	}
	roots := &mcp.ListRootsResult{Roots: []*mcp.Root{{URI: "file:///home/ada"}}}
	again, err := round(t, s, "trio", whatEver, first.RequestState, mcp.InputResponseMap{
		"what": roots, "who": model, person: &mcp.ElicitResult{Action: "accept", Content: map[string]any{"wrong": 1}}, "unknown": roots})
	if err != nil || len(again.InputRequests) != 1 || again.RequestState == first.RequestState {
		t.Fatalf("%+v, %v", again, err)
	}
	if form := again.InputRequests[person].(*mcp.ElicitParams); !strings.Contains(form.Message, "not accepted") {
		t.Errorf("the question is repeated as %q", form.Message)
	}
	last, err := round(t, s, "trio", whatEver, again.RequestState, mcp.InputResponseMap{person: accepted("Ada")})
	if err != nil || last.InputRequests["who"] == nil || f.Waiting() != 1 {
		t.Fatalf("%+v, %v, and %d calls wait", last, err, f.Waiting())
	}
	end, err := round(t, s, "trio", whatEver, last.RequestState, mcp.InputResponseMap{"who": accepted("Bea")})
	if want := `{"answer":"Ada"} file:///home/ada Paris {"answer":"Bea"}`; err != nil || text(end) != want || f.Waiting() != 0 {
		t.Errorf("the call says %q, want %q; %v, and %d calls wait", text(end), want, err, f.Waiting())
	}
}

// A first request may have answers already. Each is for one question, and those without a question
// are ignored.
func TestEarlyAnswers(t *testing.T) { synctest.Test(t, testEarlyAnswers) }

func testEarlyAnswers(t *testing.T) {
	s := newTrio(t).connect(t, versions[1], byHand())
	r, err := round(t, s, "trio", whatEver, "", mcp.InputResponseMap{
		"who":        &mcp.CreateMessageWithToolsResult{Role: "assistant", Model: "m", Content: []mcp.Content{&mcp.TextContent{Text: "Paris"}}},
		"what":       &mcp.ListRootsResult{Roots: []*mcp.Root{{URI: "file:///x"}}},
		"question-9": accepted("none"),
	})
	if err != nil || len(r.InputRequests) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	for name := range r.InputRequests {
		r, err = round(t, s, "trio", whatEver, r.RequestState, mcp.InputResponseMap{name: accepted("Ada"), "who": accepted("early")})
	}
	if err != nil || r.InputRequests["who"] == nil {
		t.Errorf("an answer to a question that was not asked yet was used later: %+v, %v", r, err)
	}
}

// A request state is worth nothing if it is changed, sent twice, sent with another call, or by
// another principal.
func TestRequestState(t *testing.T) { synctest.Test(t, testRequestState) }

func testRequestState(t *testing.T) {
	f := newTrio(t)
	s, other := f.connect(t, versions[1], byHand()), newTrio(t).connect(t, versions[1], byHand())
	begin := func() (state string, given mcp.InputResponseMap) {
		r, err := round(t, s, "ask", whatEver, "", nil)
		if err != nil || !r.NeedsInput() {
			t.Fatalf("%+v, %v", r, err)
		}
		for name := range r.InputRequests {
			given = mcp.InputResponseMap{name: accepted("red")}
		}
		return r.RequestState, given
	}
	refused := func(what string, s *mcp.ClientSession, name string, arguments map[string]any, state string, given mcp.InputResponseMap) {
		t.Helper()
		if r, err := round(t, s, name, arguments, state, given); err == nil || !strings.Contains(err.Error(), "request state") {
			t.Errorf("%s: %+v, %v", what, r, err)
		}
	}
	state, given := begin()
	refused("changed", s, "ask", whatEver, state+"-TAMPERED", given)
	refused("of another principal", other, "ask", whatEver, state, given)
	if r, err := round(t, s, "ask", map[string]any{"message": "Which?", "kind": "person"}, state, given); err != nil || text(r) != `accept {"answer":"red"}` {
		t.Errorf("%+v, %v", r, err)
	}
	refused("sent twice", s, "ask", whatEver, state, given)
	state, given = begin()
	refused("of another tool", s, "trio", whatEver, state, given)
	state, given = begin()
	refused("of other arguments", s, "ask", map[string]any{"kind": "person", "message": "Delete all?"}, state, given)
	if f.Waiting() != 0 {
		t.Errorf("%d calls wait", f.Waiting())
	}
}

// A principal cannot keep more calls than a bound. The tool of a further one gets an error.
func TestTooManyWait(t *testing.T) { synctest.Test(t, testTooManyWait) }

func testTooManyWait(t *testing.T) {
	f := newFixture(t, nil)
	s := f.connect(t, versions[1], byHand())
	for range 64 {
		if r, err := round(t, s, "ask", whatEver, "", nil); err != nil || !r.NeedsInput() {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	if r, err := round(t, s, "ask", whatEver, "", nil); err != nil || text(r) != "rate_limited" {
		t.Errorf("%+v, %v", r, err)
	}
	if f.Waiting() != 64 {
		t.Errorf("%d calls wait", f.Waiting())
	}
	time.Sleep(2 * time.Hour) // of the bubble
	if f.Waiting() != 0 {
		t.Errorf("%d calls wait after their questions have expired", f.Waiting())
	}
}
