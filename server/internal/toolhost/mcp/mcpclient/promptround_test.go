package mcpclient

import (
	"context"
	"fmt"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

//lint:file-ignore SA1019 Servers of 2025-11-25 use sampling and roots, which 2026-07-28 deprecates.

// A server learns what the caller of a prompt answers, asks it, and gets the answers by its own
// names and its state.
func TestServerAsksForAPrompt(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	server.AddPrompt(&mcp.Prompt{Name: "greet"}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		if c := req.ClientCapabilities(); c == nil || c.Elicitation == nil || c.Sampling != nil || c.RootsV2 != nil {
			return nil, fmt.Errorf("the client has the capabilities %+v", c)
		}
		given := req.Params.InputResponses
		if given == nil {
			return &mcp.GetPromptResult{RequestState: "the state", InputRequests: mcp.InputRequestMap{
				"first": &mcp.ElicitParams{Message: "Who?", RequestedSchema: nameSchema}, "second": &mcp.ElicitParams{Message: "And?", RequestedSchema: nameSchema},
			}}, nil
		}
		who := func(key string) any { return given[key].(*mcp.ElicitResult).Content["name"] }
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{
			Text: fmt.Sprintf("%s: %v and %v", req.Params.RequestState, who("first"), who("second")),
		}}}}, nil
	})
	conn := connect(t, server, Config{Protocol: sessionlessVersion, Asks: everything, Roots: []string{"/own"}})
	r := tool.PromptRequest{Name: "greet", Answers: []tool.QuestionKind{tool.QuestionPerson}}
	text, err := conn.GetPrompt(t.Context(), pluginconn.Asker{}, r)
	if err != nil || text.Round == nil || len(text.Round.Questions) != 2 || text.Round.Questions[0].Key != "first" || text.Round.Questions[1].Person.Message != "And?" {
		t.Fatalf("%+v, %v", text, err)
	}
	r.Round = text.Round
	for i := range text.Round.Questions {
		r.Given = append(r.Given, friendly(&text.Round.Questions[i]))
	}
	text, err = conn.GetPrompt(t.Context(), pluginconn.Asker{}, r)
	if err != nil || text.Round != nil || text.Messages[0].Content.Text != "the state: Ada and Ada" {
		t.Errorf("%+v, %v", text, err)
	}
}

// A server that asks too much at once, or nothing, gets no answer.
func TestBoundsOfAPrompt(t *testing.T) {
	for count, want := range map[int]tool.Kind{0: tool.KindUnavailable, maxInputs + 1: tool.KindRateLimited} {
		requests := mcp.InputRequestMap{}
		for i := range count {
			requests[fmt.Sprint(i)] = &mcp.ElicitParams{Message: "Who?"}
		}
		if _, err := roundOf(&mcp.GetPromptResult{InputRequests: requests}); tool.KindOf(err) != want {
			t.Errorf("%d questions: %v", count, err)
		}
	}
}
