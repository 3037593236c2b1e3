package sdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/sdktest"
)

type pickIn struct {
	Table string `json:"table"`
}

// pick is a tool whose choices depend on the session.
func pick(describe func(ctx context.Context) (sdk.Variant, error)) sdk.Plugin {
	spec := sdk.Spec{
		Name: "pick", Description: "Picks a table.", ContextKeys: []string{"tables"},
		InputExamples: []sdk.InputExample{{Arguments: json.RawMessage(`{"table":"a"}`)}},
	}
	return sdk.Plugin{Name: "picker", Tools: []sdk.Tool{
		sdk.Func(spec, func(_ context.Context, in pickIn) (string, error) { return "picked " + in.Table, nil }).Dynamic(describe),
		sdk.Func(sdk.Spec{Name: "other", Description: "Is the same for all."}, func(context.Context, struct{}) (string, error) { return "", nil }),
	}}
}

// tablesOf declares pick with the session's value "tables".
func tablesOf(ctx context.Context) (sdk.Variant, error) {
	tables, found, err := sdk.Value[[]string](ctx, "tables")
	if err != nil || !found {
		return sdk.Variant{}, err
	}
	enum, err := json.Marshal(tables)
	if err != nil {
		return sdk.Variant{}, err
	}
	return sdk.Variant{
		Description: fmt.Sprintf("Picks one of %d tables of %s.", len(tables), sdk.Session(ctx)),
		InputSchema: json.RawMessage(`{"type":"object","properties":{"table":{"enum":` + string(enum) + `}},"required":["table"]}`),
	}, nil
}

func eachTransport(t *testing.T, p sdk.Plugin, test func(t *testing.T, h *sdktest.Host)) {
	t.Run("direct", func(t *testing.T) { test(t, sdktest.New(t, p)) })
	t.Run("over the wire", func(t *testing.T) { test(t, sdktest.NewOverWire(t, p)) })
}

// Two sessions see different schemas, and each can only make calls that fit its schema.
func TestDynamicTools(t *testing.T) {
	eachTransport(t, pick(tablesOf), func(t *testing.T, h *sdktest.Host) {
		first := []sdktest.Option{sdktest.WithSession("s1"), sdktest.WithValue("tables", []string{"a", "b"})}
		second := []sdktest.Option{sdktest.WithSession("s2"), sdktest.WithValue("tables", []string{"c"}), sdktest.WithValue("undeclared", 1)}
		for _, test := range []struct {
			name        string
			options     []sdktest.Option
			description string
			schema      string // a part of the schema
			examples    int
			valid       map[string]bool
		}{
			{"first", first, "Picks one of 2 tables of s1.", `["a","b"]`, 1, map[string]bool{"a": true, "b": true, "c": false}},
			{"second", second, "Picks one of 1 tables of s2.", `["c"]`, 0, map[string]bool{"a": false, "c": true}},
			{"none", nil, "Picks a table.", `"string"`, 1, map[string]bool{"a": true, "z": true}},
		} {
			spec := h.Describe(test.options...).Tools[0]
			if spec.Description != test.description || !strings.Contains(string(spec.InputSchema), test.schema) || !spec.Dynamic || len(spec.InputExamples) != test.examples {
				t.Errorf("%s: described as %q with %d examples and the schema %s", test.name, spec.Description, len(spec.InputExamples), spec.InputSchema)
			}
			for table, valid := range test.valid {
				got := h.Call("pick", pickIn{table}, test.options...)
				if got.Err != nil || got.IsError == valid || valid && got.Text() != "picked "+table {
					t.Errorf("%s: %s: %q, %v", test.name, table, got.Text(), got.Err)
				}
			}
		}
	})
}

// If the declaration of a dynamic tool fails, the tool keeps its Spec, and other tools are not
// affected.
func TestDynamicToolsThatFail(t *testing.T) {
	for name, describe := range map[string]func(context.Context) (sdk.Variant, error){
		"an error": func(context.Context) (sdk.Variant, error) {
			return sdk.Variant{Description: "no"}, errors.New("no database")
		},
		"a panic": func(context.Context) (sdk.Variant, error) { panic("a bug") },
		"no JSON": func(context.Context) (sdk.Variant, error) { return sdk.Variant{InputSchema: []byte(`{`)}, nil },
		"no object": func(context.Context) (sdk.Variant, error) {
			return sdk.Variant{InputSchema: []byte(`{"type":"string"}`)}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachTransport(t, pick(describe), func(t *testing.T, h *sdktest.Host) {
				tools := h.Describe(sdktest.WithSession("s")).Tools
				if len(tools) != 2 || tools[0].Description != "Picks a table." {
					t.Errorf("described as %+v", tools)
				}
				if got := h.Call("pick", pickIn{"x"}, sdktest.WithSession("s")); got.Text() != "picked x" {
					t.Errorf("got %q, %v", got.Text(), got.Err)
				}
			})
		})
	}
}

// A function that declares a dynamic tool has no call: properties of a call are empty, and reports
// are dropped.
func TestADescriptionIsNoCall(t *testing.T) {
	h := sdktest.New(t, pick(func(ctx context.Context) (sdk.Variant, error) {
		sdk.ReportStatus(ctx, sdk.Status{Message: "describing"})
		return sdk.Variant{Description: "[" + sdk.CallID(ctx) + sdk.Workspace(ctx) + "]"}, nil
	}))
	if got := h.Describe(sdktest.WithSession("s"), sdktest.WithWorkspace("/w"), sdktest.WithCallID("c")).Tools[0].Description; got != "[]" {
		t.Errorf("a description knows %s", got)
	}
	if got := h.Call("pick", pickIn{"x"}, sdktest.WithSession("s"), sdktest.WithWorkspace("/w")); len(got.Statuses) != 0 || got.Text() != "picked x" {
		t.Errorf("got %q with the statuses %v", got.Text(), got.Statuses)
	}
}

func TestDynamicMustBeDescribed(t *testing.T) {
	plain := sdk.Func(sdk.Spec{Name: "x", Description: "x", Dynamic: true}, func(context.Context, struct{}) (string, error) { return "", nil })
	for _, wrong := range []sdk.Tool{plain, plain.Dynamic(nil)} {
		err := sdk.Plugin{Name: "p", Tools: []sdk.Tool{wrong}}.Validate()
		if err == nil || !strings.Contains(err.Error(), `tool "x": it declares Dynamic, but nothing describes it`) {
			t.Errorf("got %v", err)
		}
	}
}

// A result of a dynamic tool is checked against the output schema of the call's session, and not
// against the schema in the tool's Spec.
func TestOutputsOfDynamicTools(t *testing.T) {
	type out struct {
		N int `json:"n"`
	}
	h := sdktest.New(t, sdk.Plugin{Name: "p", Tools: []sdk.Tool{
		sdk.Func(sdk.Spec{Name: "x", Description: "x", OutputSchema: []byte(`{"type":"object","required":["m"]}`)},
			func(context.Context, struct{}) (out, error) { return out{N: 1}, nil }).Dynamic(
			func(context.Context) (sdk.Variant, error) {
				return sdk.Variant{OutputSchema: []byte(`{"type":"object","required":["n"]}`)}, nil
			}),
	}})
	if got := h.Call("x", "{}", sdktest.WithSession("s")); got.Text() != `{"n":1}` {
		t.Errorf("got %q, %v", got.Text(), got.Err)
	}
}
