package mcpserver_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/server/internal/toolhost/mcp/mcpserver"
	"github.com/toolhost/toolhost/tool"
)

//lint:file-ignore SA1019 Clients of 2025-11-25 use roots, which 2026-07-28 deprecates.

// asksFirst has two prompts that ask a person before they are complete.
type asksFirst struct{ mcpserver.Tools }

func (asksFirst) ListPrompts(context.Context, tool.ResourceQuery) (tool.Prompts, error) {
	return tool.Prompts{Prompts: []tool.Prompt{{Plugin: "p", Name: "greet"}, {Plugin: "p", Name: "other"}}}, nil
}

func (a asksFirst) GetPrompt(_ context.Context, r tool.PromptRequest) (tool.PromptText, error) {
	if len(r.Answers) == 0 {
		return tool.PromptText{}, tool.Errorf(tool.KindUnsupported, "the caller cannot be asked")
	}
	if r.Round == nil {
		return tool.PromptText{Plugin: "p", Round: &tool.PromptRound{State: "confidential", Asked: 1, Questions: []tool.Question{{
			ID: 1, Plugin: "p", Key: "who", Expires: time.Now().Add(time.Hour),
			Person: &tool.PersonQuestion{Message: "Who?\x1b", Schema: []byte(`{"type":"object","properties":{"answer":{"type":"string"}}}`)},
		}}}}, nil
	}
	text := fmt.Sprintf("%s %s %s", r.Name, r.Round.State, r.Given[0].Person.Content)
	return tool.PromptText{Plugin: "p", Messages: []tool.PromptMessage{{Role: tool.PromptUser, Content: tool.Text(text)}}}, nil
}

// asking returns a server for one principal, with two prompts that ask.
func asking(t *testing.T) *fixture {
	t.Helper()
	return newFixture(t, func(c *mcpserver.Config) { c.Tools = asksFirst{c.Tools} })
}

// get sends a request for a prompt.
func get(t *testing.T, s *mcp.ClientSession, name, argument, state string, given mcp.InputResponseMap) (*mcp.GetPromptResult, error) {
	t.Helper()
	return s.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: name, Arguments: map[string]string{"a": argument}, RequestState: state, InputResponses: given})
}

// A client gets the questions of a prompt, and the prompt for its answers. It never sees the state
// of the plugin. What it does not answer is asked again. A client that cannot be asked gets an
// error.
func TestPromptAsks(t *testing.T) { synctest.Test(t, testPromptAsks) }

func testPromptAsks(t *testing.T) {
	f := asking(t)
	s := f.connect(t, versions[1], byHand())
	r, err := get(t, s, "greet", "1", "", mcp.InputResponseMap{"who": accepted("early")})
	if err != nil || !r.NeedsInput() || strings.Contains(r.RequestState, "confidential") || f.Waiting() != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if got := r.InputRequests["who"].(*mcp.ElicitParams).Message; got != "The plugin p asks for one of its prompts:\n\nWho?\\x1b" {
		t.Errorf("the message is %q", got)
	}
	for _, given := range []mcp.InputResponseMap{nil, {"what": accepted("Ada")}, {"who": &mcp.ListRootsResult{}}} {
		earlier := r.RequestState
		if r, err = get(t, s, "greet", "1", r.RequestState, given); err != nil || r.InputRequests["who"] == nil || r.RequestState == earlier {
			t.Fatalf("%v: %+v, %v", given, r, err)
		}
	}
	r, err = get(t, s, "greet", "1", r.RequestState, mcp.InputResponseMap{"who": accepted("Ada")})
	if err != nil || r.NeedsInput() || r.Messages[0].Content.(*mcp.TextContent).Text != `greet confidential {"answer":"Ada"}` || f.Waiting() != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	for _, version := range versions {
		cannot := f.connect(t, version, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
		if r, err := get(t, cannot, "greet", "1", "", nil); err == nil || !strings.Contains(err.Error(), "cannot be asked") {
			t.Errorf("%s: %+v, %v", version, r, err)
		}
	}
}

// The state of a prompt is worth nothing if it is changed, sent twice, sent too late, sent with
// another request, or sent by another principal.
func TestPromptState(t *testing.T) { synctest.Test(t, testPromptState) }

func testPromptState(t *testing.T) {
	f := asking(t)
	s, other := f.connect(t, versions[1], byHand()), asking(t).connect(t, versions[1], byHand())
	given := mcp.InputResponseMap{"who": accepted("Ada")}
	begin := func() string {
		t.Helper()
		r, err := get(t, s, "greet", "1", "", nil)
		if err != nil || !r.NeedsInput() {
			t.Fatalf("%+v, %v", r, err)
		}
		return r.RequestState
	}
	refused := func(what string, s *mcp.ClientSession, name, argument, state string) {
		t.Helper()
		if r, err := get(t, s, name, argument, state, given); err == nil || !strings.Contains(err.Error(), "request state") {
			t.Errorf("%s: %+v, %v", what, r, err)
		}
	}
	state := begin()
	refused("changed", s, "greet", "1", state+"x")
	refused("the plugin's", s, "greet", "1", "confidential")
	refused("of another principal", other, "greet", "1", state)
	if r, err := get(t, s, "greet", "1", state, given); err != nil || r.NeedsInput() {
		t.Errorf("%+v, %v", r, err)
	}
	refused("sent twice", s, "greet", "1", state)
	refused("of another prompt", s, "other", "1", begin())
	refused("of other arguments", s, "greet", "2", begin())
	state = begin()
	time.Sleep(2 * time.Hour)
	refused("too late", s, "greet", "1", state)
	for range 64 {
		begin()
	}
	if r, err := get(t, s, "greet", "1", "", nil); err == nil || !strings.Contains(err.Error(), "too many prompts") {
		t.Errorf("one more than 64: %+v, %v", r, err)
	}
}
