package sdk_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/sdktest"
)

const bigID = "725653563933458433"

type itself struct{ Number any }

func (i *itself) UnmarshalJSON(text []byte) error {
	i.Number = json.Number(text)
	return nil
}

// IDs are integers beyond what a float64 holds. No type of an argument rounds them, in either
// direction (modelcontextprotocol/go-sdk#1201, mark3labs/mcp-go#913, cloudwego/eino-ext#295).
func TestIntegersAreExact(t *testing.T) {
	const arguments = `{"id":` + bigID + `,"meta":{"parent":[-` + bigID + `,1,2.5]}}`
	for name, tool := range map[string]sdk.Tool{
		"any": exactTool(func(in struct {
			ID   any `json:"id"`
			Meta any `json:"meta"`
		}) any {
			return in
		}),
		"a map": exactTool(func(in map[string]any) any { return in }),
		"int64": exactTool(func(in struct {
			ID   int64 `json:"id"`
			Meta struct {
				Parent []any `json:"parent"`
			} `json:"meta"`
		}) any {
			return in
		}),
		"maps in maps": exactTool(func(in struct {
			ID   *any                        `json:"id"`
			Meta map[string]map[string][]any `json:"-"`
			Rest map[string][]any            `json:"meta"`
		}) any {
			return in
		}),
		"text": exactTool(func(in json.RawMessage) any { return in }),
	} {
		t.Run(name, func(t *testing.T) {
			got := sdktest.New(t, sdk.Plugin{Name: "p", Version: "1.0.0", Tools: []sdk.Tool{tool}}).Call("exact", arguments)
			if got.Err != nil || got.IsError || got.Text() != arguments {
				t.Errorf("got %s, %v", got.Text(), got.Err)
			}
		})
	}
}

func exactTool[In any](fn func(In) any) sdk.Tool {
	return sdk.Func(sdk.Spec{
		Name: "exact", Version: "1.0.0", Description: "Returns its arguments.",
		InputSchema: json.RawMessage(`{"type":"object"}`),
	}, func(_ context.Context, in In) (any, error) { return fn(in), nil })
}

// In a part of type any, only integers beyond ±2^53 are no float64, and types that decode
// themselves keep what they hold.
func TestNumbersInAny(t *testing.T) {
	type input struct {
		Numbers []any  `json:"numbers"`
		Own     itself `json:"own"`
	}
	var got input
	tool := sdk.Func(sdk.Spec{Name: "numbers", Version: "1.0.0", Description: "Keeps its arguments.", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(_ context.Context, in input) (string, error) {
			got = in
			return "", nil
		})
	result := sdktest.New(t, sdk.Plugin{Name: "p", Version: "1.0.0", Tools: []sdk.Tool{tool}}).Call("numbers",
		`{"numbers":[9007199254740992,-9007199254740992,9007199254740993,-9007199254740993,123456789012345678901234567890,0.12345678901234567,3],"own":7}`)
	want := input{
		Numbers: []any{9007199254740992.0, -9007199254740992.0, json.Number("9007199254740993"), json.Number("-9007199254740993"),
			json.Number("123456789012345678901234567890"), 0.12345678901234567, 3.0},
		Own: itself{Number: json.Number("7")},
	}
	if diff := cmp.Diff(want, got); result.Err != nil || result.IsError || diff != "" {
		t.Errorf("%s %v\n%s", result.Text(), result.Err, diff)
	}
}

// Context values, and values in the tags of a schema, are exact too.
func TestIntegersElsewhereAreExact(t *testing.T) {
	type input struct {
		ID   int64 `json:"id" default:"725653563933458433"`
		Kind int64 `json:"kind,omitempty" enum:"725653563933458433,725653563933458435"`
	}
	tool := sdk.Func(sdk.Spec{Name: "exact", Version: "1.0.0", Description: "Returns the owner.", ContextKeys: []string{"owner"}},
		func(ctx context.Context, in input) (string, error) {
			owner, _, err := sdk.Value[map[string]any](ctx, "owner")
			return fmt.Sprint(owner["id"], " ", in.ID), err
		})
	host := sdktest.New(t, sdk.Plugin{Name: "p", Version: "1.0.0", Tools: []sdk.Tool{tool}})
	if schema := string(host.Describe().Tools[0].InputSchema); !strings.Contains(schema, `"enum":[725653563933458433,725653563933458435]`) {
		t.Errorf("the schema is %s", schema)
	}
	owner := sdktest.WithValue("owner", json.RawMessage(`{"id":`+bigID+`}`))
	for _, arguments := range []string{`{}`, `{"id":725653563933458433,"kind":725653563933458435}`} {
		if got := host.Call("exact", arguments, owner); got.Err != nil || got.IsError || got.Text() != bigID+" "+bigID {
			t.Errorf("%s: got %s, %v", arguments, got.Text(), got.Err)
		}
	}
	if got := host.Call("exact", `{"kind":725653563933458434}`, owner); got.Err != nil || !got.IsError {
		t.Errorf("an integer between the values: got %s, %v", got.Text(), got.Err)
	}
}
