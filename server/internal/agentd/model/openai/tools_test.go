package openai_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

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
			Function struct {
				Name        string
				Description string
				Parameters  json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(server.Requests()[0].Body, &sent); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range sent.Tools {
		names = append(names, tool.Function.Name)
	}
	if diff := cmp.Diff([]string{"choice", "spaced", "long"}, names); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	choice := sent.Tools[0].Function
	if got, want := string(choice.Parameters), `{"type":"object","properties":{"b":{"oneOf":[{}]},"a":{}}}`; got != want {
		t.Errorf("the schema is %s, want %s", got, want)
	}
	if want := `Chooses.` + "\n\n" + `The arguments must also fit this JSON Schema: {"oneOf":[{"required":["a"]},{"required":["b"]}]}`; choice.Description != want {
		t.Errorf("the description is %q, want %q", choice.Description, want)
	}
	// This server is not OpenAI's. It accepts any length.
	if n := utf8.RuneCountInString(sent.Tools[2].Function.Description); n != 5000 {
		t.Errorf("%d characters of the long description are sent", n)
	}
}

// Examples become part of the description, because the API has no other place for them.
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
	if sent := string(server.Requests()[0].Body); !strings.Contains(sent, "kd83.txt") {
		t.Errorf("the API gets %s", sent)
	}
}
