package anthropic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/wiretest"
	"github.com/toolhost/toolhost/tool"
)

// The API refuses a request that has an unfit tool, so requests omit it.
func TestOneUnfitToolDoesNotSpoilTheRequest(t *testing.T) {
	req := wiretest.Hello()
	req.Tools = wiretest.UnfitTools()
	server := wiretest.Serve(t, wiretest.Reply{})
	for range connect(t, server).Generate(t.Context(), req) {
		continue
	}
	var sent struct {
		Tools []struct {
			Name        string
			Description string
			Schema      json.RawMessage `json:"input_schema"`
		}
	}
	if err := json.Unmarshal(server.Requests()[0].Body, &sent); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range sent.Tools {
		names = append(names, tool.Name)
	}
	if diff := cmp.Diff([]string{"choice", "spaced", "long"}, names); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	choice := sent.Tools[0]
	if got, want := string(choice.Schema), `{"type":"object","properties":{"b":{"oneOf":[{}]},"a":{}}}`; got != want {
		t.Errorf("the schema is %s, want %s", got, want)
	}
	if want := `Chooses.` + "\n\n" + `The arguments must also fit this JSON Schema: {"oneOf":[{"required":["a"]},{"required":["b"]}]}`; choice.Description != want {
		t.Errorf("the description is %q, want %q", choice.Description, want)
	}
}

// Requests have examples in the API's form, and none that the API refuses.
func TestExamples(t *testing.T) {
	req := wiretest.Hello()
	req.Tools = []model.Tool{{
		Name: "read", Description: "Reads.", InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`),
		Examples: []tool.InputExample{{Description: "one", Arguments: json.RawMessage(`{"path":"kd83.txt"}`)}, {Arguments: json.RawMessage(`{"path":71}`)}},
	}}
	server := wiretest.Serve(t, wiretest.Reply{})
	for range connect(t, server).Generate(t.Context(), req) {
		continue
	}
	if sent := string(server.Requests()[0].Body); !strings.Contains(sent, `"input_examples":[{"path":"kd83.txt"}]`) || strings.Contains(sent, "71") {
		t.Errorf("the API gets %s", sent)
	}
}
