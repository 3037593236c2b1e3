package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

//lint:file-ignore SA1019 Servers and clients of 2025-11-25 use sampling and roots, which 2026-07-28 deprecates.

var (
	versions   = []string{"2025-11-25", "2026-07-28"}
	everything = []tool.QuestionKind{tool.QuestionPerson, tool.QuestionModel, tool.QuestionRoots}
)

// asker returns a server with a tool, ask, that acts as f says. The SDK turns what f asks for into
// requests for a client of 2025-11-25.
func asker(f func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error)) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "ask", InputSchema: json.RawMessage(`{"type":"object"}`)}, f)
	return server
}

func said(format string, args ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}
}

var nameSchema = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`)

// startAsk starts a call of the tool ask.
func startAsk(t *testing.T, conn *Conn, kinds ...tool.QuestionKind) pluginconn.Call {
	t.Helper()
	call, err := conn.Start(t.Context(), pluginconn.Start{Tool: "ask", Arguments: json.RawMessage(`{}`), Complete: true, Answers: kinds})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(call.Close)
	return call
}

// answering answers the questions of a call as f says, and returns them with the outcome.
func answering(t *testing.T, call pluginconn.Call, f func(q *tool.Question) tool.Answer) (asked []*tool.Question, end *tool.Outcome) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		ev, err := call.Next(ctx)
		switch {
		case err != nil:
			t.Fatalf("after %d questions: %v", len(asked), err)
		case ev.Ended != nil:
			return asked, ev.Ended
		case ev.Question != nil:
			asked = append(asked, ev.Question)
			if err := call.Answer(ctx, ev.Question.ID, f(ev.Question)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func friendly(q *tool.Question) tool.Answer {
	switch q.Kind() {
	case tool.QuestionPerson:
		return tool.Answer{Person: &tool.PersonAnswer{Action: tool.PersonAccept, Content: json.RawMessage(`{"name":"Ada"}`)}}
	case tool.QuestionModel:
		return tool.Answer{Model: &tool.ModelAnswer{Model: "m", Content: []tool.Content{tool.Text("Paris")}, StopReason: "end_turn"}}
	default:
		return tool.Answer{Roots: &tool.RootsAnswer{Roots: []tool.Root{{URI: "file:///caller", Name: "caller"}}}}
	}
}

// A server asks a person, a model and for roots in one round, and gets the answers by its own names
// of the questions. In 2025-11-25, roots are always those of the plugin.
func TestServerAsks(t *testing.T) {
	server := asker(func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		in := req.Params.InputResponses
		if in == nil {
			return &mcp.CallToolResult{RequestState: "the state", InputRequests: mcp.InputRequestMap{
				"who": &mcp.ElicitParams{Message: "Who?", RequestedSchema: nameSchema},
				"what": &mcp.CreateMessageWithToolsParams{SystemPrompt: "Be brief.", MaxTokens: 9,
					Messages: []*mcp.SamplingMessageV2{{Role: "user", Content: []mcp.Content{&mcp.TextContent{Text: "The capital?"}}}}},
				"where": &mcp.ListRootsParams{},
			}}, nil
		}
		model := in["what"].(*mcp.CreateMessageWithToolsResult)
		return said("%s %v %s %s %s %s", req.Params.RequestState, in["who"].(*mcp.ElicitResult).Content["name"],
			model.Content[0].(*mcp.TextContent).Text, model.Model, model.StopReason, in["where"].(*mcp.ListRootsResult).Roots[0].URI), nil
	})
	for _, version := range versions {
		conn := connect(t, server, Config{Protocol: version, Asks: everything, Roots: []string{"/own folder"}})
		asked, end := answering(t, startAsk(t, conn, everything...), friendly)
		root, kinds := "file:///own%20folder", 2
		if version == sessionlessVersion {
			root, kinds = "file:///caller", 3
		}
		if got, want := end.Result.Text(), "the state Ada Paris m endTurn "+root; got != want || end.Err != nil {
			t.Errorf("%s: the call says %q (%v), want %q", version, got, end.Err, want)
		}
		if len(asked) != kinds {
			t.Fatalf("%s: %d questions", version, len(asked))
		}
		for _, q := range asked {
			switch {
			case q.Person != nil && (q.Person.Message != "Who?" || !strings.Contains(string(q.Person.Schema), `"name"`)),
				q.Model != nil && (q.Model.System != "Be brief." || q.Model.MaxTokens != 9 || len(q.Model.Messages) != 1 || q.Model.Messages[0].Role != "user"):
				t.Errorf("%s: %+v", version, q)
			case version == sessionlessVersion && q.Key != map[tool.QuestionKind]string{"person": "who", "model": "what", "roots": "where"}[q.Kind()]:
				t.Errorf("%s: the key of the %s's question is %q", version, q.Kind(), q.Key)
			}
		}
	}
}

// What a person leaves out of a form has the default value of the form.
func TestDefaultsOfAForm(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},"color":{"type":"string","default":"red"}}}`)
	server := asker(func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if in := req.Params.InputResponses; in != nil {
			return said("%v", in["q"].(*mcp.ElicitResult).Content), nil
		}
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": &mcp.ElicitParams{Message: "Who?", RequestedSchema: schema}}}, nil
	})
	for _, version := range versions {
		conn := connect(t, server, Config{Protocol: version, Asks: everything})
		if _, end := answering(t, startAsk(t, conn, tool.QuestionPerson), friendly); end.Result.Text() != "map[color:red name:Ada]" {
			t.Errorf("%s: %q, %v", version, end.Result.Text(), end.Err)
		}
	}
}

// A person who declines or closes a question is no error. A question without an answer is: in
// 2025-11-25 for the server, in 2026-07-28 for the call.
func TestUnanswered(t *testing.T) {
	server := asker(func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if in := req.Params.InputResponses; in != nil {
			return said("%s", in["q"].(*mcp.ElicitResult).Action), nil
		}
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": &mcp.ElicitParams{Message: "Who?", RequestedSchema: nameSchema}}}, nil
	})
	for _, version := range versions {
		conn := connect(t, server, Config{Protocol: version, Asks: everything})
		for want, answer := range map[string]tool.Answer{
			"decline":      {Person: &tool.PersonAnswer{Action: tool.PersonDecline}},
			"cancel":       {Person: &tool.PersonAnswer{Action: tool.PersonDismiss}},
			"rate_limited": {Err: tool.Errorf(tool.KindRateLimited, "too much")},
			"unsupported":  {Err: tool.Errorf(tool.KindUnsupported, "no person")},
		} {
			_, end := answering(t, startAsk(t, conn, tool.QuestionPerson), func(*tool.Question) tool.Answer { return answer })
			got := end.Result.Text()
			if end.Err != nil {
				got = string(end.Err.Kind) + " " + end.Err.Message
			}
			if !strings.Contains(got, want) {
				t.Errorf("%s: after %+v: %q", version, answer, got)
			}
		}
	}
}

// Without the operator's or the caller's permission, no question of a server reaches the caller,
// and the server learns that from the capabilities of the request.
func TestServerMayNotAsk(t *testing.T) {
	server := asker(func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if caps := req.ClientCapabilities(); caps == nil || caps.Elicitation == nil {
			return said("no elicitation"), nil
		}
		_, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Who?", RequestedSchema: nameSchema})
		return said("%v", err), nil
	})
	for _, version := range versions {
		for _, asks := range [][]tool.QuestionKind{nil, everything} {
			conn := connect(t, server, Config{Protocol: version, Asks: asks})
			asked, end := answering(t, startAsk(t, conn, tool.QuestionModel), friendly)
			if len(asked) > 0 || !strings.Contains(end.Result.Text(), "no elicitation") && !strings.Contains(end.Result.Text(), "permits") {
				t.Errorf("%s with %v: %d questions, %q, %v", version, asks, len(asked), end.Result.Text(), end.Err)
			}
		}
	}
}

// A request without a call, or after the end of its call, is refused. While a call is in progress,
// no other call of the session begins, so that no request can be for the wrong one.
func TestQuestionsBelongToTheirCall(t *testing.T) {
	sessions, release := make(chan *mcp.ServerSession, 4), make(chan bool)
	server := asker(func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		sessions <- req.Session
		<-release
		return said("done"), nil
	})
	conn := connect(t, server, Config{Protocol: "2025-11-25", Asks: everything})
	first := startAsk(t, conn, tool.QuestionPerson)
	session := <-sessions
	second := startAsk(t, conn, tool.QuestionPerson)
	second.Cancel("it waits too long") // the server does not know it
	if _, end := outcome(t, second); end.Err == nil || end.Err.Kind != tool.KindCancelled {
		t.Errorf("a canceled call that waits ends with %+v", end)
	}
	release <- true
	if _, end := outcome(t, first); end.Err != nil {
		t.Error(end.Err)
	}
	if len(sessions) > 0 {
		t.Error("two calls were in progress")
	}
	for _, late := range []string{"Who?", strings.Repeat("x", 1<<16), "\x1b]0;password\a"} {
		_, err := session.Elicit(t.Context(), &mcp.ElicitParams{Message: late, RequestedSchema: nameSchema})
		if err == nil || !strings.Contains(err.Error(), "only during a call") {
			t.Errorf("a question without a call: %v", err)
		}
	}
	if _, err := session.CreateMessage(t.Context(), &mcp.CreateMessageParams{}); err == nil || !strings.Contains(err.Error(), "only during a call") {
		t.Errorf("a sampling without a call: %v", err)
	}
	if err := first.Answer(t.Context(), 1, friendly(&tool.Question{})); err != nil {
		t.Errorf("a late answer: %v", err)
	}
}

// An endless asker, one that never has time, one that asks too much at once, and a link to open end
// their call with an error.
func TestServerAsksTooMuch(t *testing.T) {
	ask := func(n int) *mcp.CallToolResult {
		r := &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{}}
		for i := range n {
			r.InputRequests[fmt.Sprint(i)] = &mcp.ElicitParams{Message: "Who?", RequestedSchema: nameSchema}
		}
		return r
	}
	for name, test := range map[string]struct {
		result *mcp.CallToolResult
		kind   tool.Kind
		most   int
	}{
		"endless": {ask(1), tool.KindRateLimited, maxRounds},
		"busy":    {ask(0), tool.KindUnavailable, 0},
		"many":    {ask(maxInputs + 1), tool.KindRateLimited, 0},
		"link": {&mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": &mcp.ElicitParams{
			Mode: "url", Message: "Log in.", URL: "https://attacker.example", ElicitationID: "1"}}}, tool.KindUnsupported, 0},
		"long key": {&mcp.CallToolResult{InputRequests: mcp.InputRequestMap{strings.Repeat("k", maxKey+1): &mcp.ListRootsParams{}}}, tool.KindInvalidArgument, 0},
	} {
		t.Run(name, func(t *testing.T) {
			server := asker(func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return test.result, nil })
			conn := connect(t, server, Config{Protocol: "2026-07-28"})
			asked, end := answering(t, startAsk(t, conn, everything...), friendly)
			if end.Err == nil || end.Err.Kind != test.kind || len(asked) != test.most {
				t.Errorf("%d questions, %+v", len(asked), end.Err)
			}
		})
	}
}

// A canceled call ends at once while a question is open, because the server does not work on it.
func TestCancelWhileAsking(t *testing.T) {
	server := asker(func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": &mcp.ElicitParams{Message: "Who?", RequestedSchema: nameSchema}}}, nil
	})
	for _, version := range versions {
		call := startAsk(t, connect(t, server, Config{Protocol: version, Asks: everything}), tool.QuestionPerson)
		ev, err := call.Next(t.Context())
		if err != nil || ev.Question == nil {
			t.Fatalf("%s: %+v, %v", version, ev, err)
		}
		call.Cancel("not needed")
		if _, end := outcome(t, call); end.Err == nil || end.Err.Kind != tool.KindCancelled {
			t.Errorf("%s: %+v", version, end)
		}
	}
}

// Progress does not replace a question, and the newest one is not lost behind it.
func TestQuestionsAndProgress(t *testing.T) {
	c := &call{wake: make(chan struct{}, 1), conn: &Conn{done: make(chan struct{})}}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	status := func(n float64) tool.Event {
		return tool.Event{Status: &tool.Status{Progress: &tool.Progress{Done: n}}}
	}
	for n := range maxUnread + 1 {
		c.push(status(float64(n)))
	}
	asking := make(chan error)
	go func() { // ends with the cancellation
		_, err := c.ask(c.ctx, []tool.Question{{Person: &tool.PersonQuestion{}}})
		asking <- err
	}()
	eventually.Holds(t, "the question is an event", func() bool { return c.has(maxUnread + 1) })
	c.push(status(-1))
	var got []string
	for range maxUnread + 2 {
		ev, err := c.Next(t.Context())
		switch {
		case err != nil:
			t.Fatal(err)
		case ev.Question != nil:
			got = append(got, "question")
		default:
			got = append(got, fmt.Sprint(ev.Status.Progress.Done))
		}
	}
	if want := []string{fmt.Sprint(maxUnread), "question", "-1"}; !slices.Equal(got[maxUnread-1:], want) {
		t.Errorf("the events end with %v, want %v", got[maxUnread-1:], want)
	}
	stop := errors.New("stop")
	c.cancel(stop)
	if err := <-asking; !errors.Is(err, stop) {
		t.Error(err)
	}
}

// has reports whether a call has n events that were not read.
func (c *call) has(n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.events) >= n
}
