package sdk

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/sdk/internal/transport"
	"github.com/toolhost/toolhost/tool"
)

type place struct {
	City string `json:"city"`
	Zip  *zip   `json:"zip,omitempty"`
}

type zip struct {
	Code int `json:"code"`
}

type Sender struct {
	From string `json:"from,omitempty"`
}

type journey struct {
	Sender
	Start  place            `json:"start"`
	Stops  []place          `json:"stops,omitempty"`
	Lists  [][2]zip         `json:"lists,omitempty"`
	Guests map[string]place `json:"guests,omitempty"`
	Free   any              `json:"free,omitempty"`
	Raw    json.RawMessage  `json:"raw,omitempty"`
	When   time.Time        `json:"when,omitzero"`
	Deep   map[string][]map[string]*place
}

// A derived schema refuses unknown fields at every depth, so that decoding does not have to.
func TestASchemaMadeOfATypeRefusesWhatTheTypeDoesNotKnow(t *testing.T) {
	text, err := inputSchema(reflect.TypeFor[journey]())
	if err != nil {
		t.Fatal(err)
	}
	schema, err := lightly(text)
	if err != nil {
		t.Fatal(err)
	}
	place := `{"city":"Oslo","zip":{"code":1}}`
	for name, whole := range map[string]string{
		"top": `{"start":P,"Deep":{}X}`, "embedded": `{"from":"me","start":P,"Deep":{}X}`,
		"struct": `{"start":{"city":"Oslo"X},"Deep":{}}`, "pointer": `{"start":{"city":"Oslo","zip":{"code":1X}},"Deep":{}}`,
		"slice": `{"start":P,"stops":[P,{"city":"Rom"X}],"Deep":{}}`, "arrays": `{"start":P,"lists":[[{"code":1},{"code":2X}]],"Deep":{}}`,
		"map": `{"start":P,"guests":{"a":{"city":"Rom"X}},"Deep":{}}`, "all of it": `{"start":P,"Deep":{"a":[{"b":{"city":"Rom"X}}]}}`,
		"a name in other letters": `{"start":P,"Deep":{},"when":"2006-01-02T15:04:05Z"Y}`,
	} {
		t.Run(name, func(t *testing.T) {
			fill := strings.NewReplacer("P", place, "X", `,"unknown":1`, "Y", `,"When":"2006-01-02T15:04:05Z"`)
			more := []byte(fill.Replace(whole))
			if err := schema.Check(more); err == nil {
				t.Errorf("the schema takes %s", more)
			}
			fits := []byte(strings.NewReplacer("P", place, "X", "", "Y", "").Replace(whole))
			if err := schema.Check(fits); err != nil {
				t.Fatalf("the schema refuses %s: %v", fits, err)
			}
			var checked, strict journey
			if err := decodeChecked(fits, &checked); err != nil {
				t.Error(err)
			}
			if err := decodeStrictly(fits, &strict); err != nil || !reflect.DeepEqual(checked, strict) {
				t.Errorf("%+v, strictly %+v, %v", checked, strict, err)
			}
		})
	}
	free := []byte(`{"start":{"city":"Oslo"},"Deep":{},"free":{"unknown":1},"raw":{"unknown":1}}`)
	if err := schema.Check(free); err != nil || decodeStrictly(free, new(journey)) != nil {
		t.Errorf("what is free is not: %v", err)
	}
}

// given is a call with complete arguments.
type given string

func (c given) NextArguments(context.Context) ([]byte, bool, error) { return []byte(c), true, nil }
func (given) Send(context.Context, tool.Event) error                { return nil }
func (given) ReadArtifact(context.Context, string, uint64, int) (tool.ArtifactPiece, error) {
	return tool.ArtifactPiece{}, tool.Errorf(tool.KindNotFound, "there are no artifacts")
}

func (given) Ask(context.Context, *tool.Question) (tool.Answer, error) {
	return tool.Answer{}, tool.Errorf(tool.KindUnsupported, "nothing can be asked")
}

// If a schema of the author allows a field that the type does not have, the SDK refuses the call,
// however deep the field is. With a derived schema, toolhost has refused it already, and the SDK
// does not check again.
func TestUnknownFieldsUnderAnExplicitSchema(t *testing.T) {
	schema, answers := json.RawMessage(`{"type":"object"}`), func(context.Context, journey) (string, error) { return "asked", nil }
	server, err := newServer(Plugin{Name: "p", Tools: []Tool{
		Func(Spec{Name: "own", Description: "x", InputSchema: schema}, answers),
		Func(Spec{Name: "made", Description: "x"}, answers),
		Func(Spec{Name: "dynamic", Description: "x"}, answers).Dynamic(func(context.Context) (Variant, error) {
			return Variant{InputSchema: schema}, nil
		}),
	}}, lightly, true)
	if err != nil {
		t.Fatal(err)
	}
	for name, asked := range map[string]bool{"own": false, "made": true, "dynamic": false} {
		for _, text := range []string{`{"unknown":1}`, `{"start":{"city":"Oslo","zip":{"code":1,"unknown":1}}}`, `{"guests":{"a":{"unknown":1}}}`} {
			result, err := server.Call(t.Context(), transport.Info{Tool: name, Session: "s"}, given(text))
			if err != nil || result.IsError == asked || !asked && !strings.Contains(result.Text(), "unknown") {
				t.Errorf("%s, called with %s, answered %q, %v", name, text, result.Text(), err)
			}
		}
	}
	for name, want := range map[string]string{"own": `start.zip.code: must fit the type int, but is "one"`, "made": `start.zip.code: must fit the type int, but is "one"`} {
		result, err := server.Call(t.Context(), transport.Info{Tool: name}, given(`{"start":{"city":"Oslo","zip":{"code":"one"}}}`))
		if err != nil || !result.IsError || !strings.Contains(result.Text(), want) {
			t.Errorf("%s answered %q, %v", name, result.Text(), err)
		}
	}
}
