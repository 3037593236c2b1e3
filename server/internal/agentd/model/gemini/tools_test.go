package gemini_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/gemini"
	"github.com/toolhost/toolhost/server/internal/agentd/model/wiretest"
)

// sentTools returns the functions of a request with tools.
func sentTools(t *testing.T, tools []model.Tool) (functions []struct {
	Name, Description string
	Schema            json.RawMessage `json:"parametersJsonSchema"`
}) {
	t.Helper()
	req := wiretest.Hello()
	req.Tools = tools
	server := wiretest.Serve(t, wiretest.Reply{})
	for range connect(t, server).Generate(t.Context(), req) {
		continue
	}
	var sent struct {
		Tools []struct {
			Functions json.RawMessage `json:"functionDeclarations"`
		}
	}
	if err := json.Unmarshal(server.Requests()[0].Body, &sent); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(sent.Tools[0].Functions, &functions); err != nil {
		t.Fatal(err)
	}
	return functions
}

// The API refuses a request that has an unfit tool, so requests omit it.
func TestOneUnfitToolDoesNotSpoilTheRequest(t *testing.T) {
	sent := sentTools(t, wiretest.UnfitTools())
	var names []string
	for _, tool := range sent {
		names = append(names, tool.Name)
	}
	if diff := cmp.Diff([]string{"choice", "spaced", "long"}, names); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	if got, want := string(sent[0].Schema), `{"type":"object","properties":{"b":{"oneOf":[{}]},"a":{}}}`; got != want {
		t.Errorf("the schema is %s, want %s", got, want)
	}
	if want := `Chooses.` + "\n\n" + `The arguments must also fit this JSON Schema: {"oneOf":[{"required":["a"]},{"required":["b"]}]}`; sent[0].Description != want {
		t.Errorf("the description is %q, want %q", sent[0].Description, want)
	}
}

// Requests have no more functions than the API accepts.
func TestTooManyTools(t *testing.T) {
	var tools []model.Tool
	for i := range 600 {
		tools = append(tools, model.Tool{Name: fmt.Sprintf("t%d", i)})
	}
	if sent := sentTools(t, tools); len(sent) != 512 {
		t.Errorf("sent %d functions", len(sent))
	}
}

// Refuses gives the reason for each tool that requests omit.
func TestRefusedTools(t *testing.T) {
	m, err := gemini.New(gemini.Config{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	wiretest.RefusedTools(t, m)
	if m.MaxTools() != 512 {
		t.Errorf("at most %d tools", m.MaxTools())
	}
}
