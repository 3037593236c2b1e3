package sdk_test

import (
	"context"
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/sdktest"
)

type weatherIn struct {
	City  string                  `json:"city" minLength:"1"`
	Days  int                     `json:"days,omitempty" default:"2" minimum:"1" maximum:"14"`
	Units string                  `json:"units" enum:"metric,imperial" default:"metric"`
	Big   int64                   `json:"big" default:"9007199254740993"`
	Small int8                    `json:"small,omitempty"`
	Since time.Time               `json:"since,omitzero"`
	Hosts map[string][]netip.Addr `json:"hosts,omitempty"`
	Spots []struct {
		Name string `json:"name"`
		Zoom int    `json:"zoom" default:"3"`
	} `json:"spots,omitempty"`
}

// pluginOf returns a plugin with one tool, named x.
func pluginOf[In, Out any](fn func(context.Context, In) (Out, error)) sdk.Plugin {
	return sdk.Plugin{Name: "p", Tools: []sdk.Tool{sdk.Func(sdk.Spec{Name: "x", Description: "x"}, fn)}}
}

func TestArgumentsReachTheFunction(t *testing.T) {
	tests := map[string]struct{ arguments, want string }{
		"defaults":           {`{"city":"Oslo"}`, `{"city":"Oslo","days":2,"units":"metric","big":9007199254740993}`},
		"given":              {`{"city":"Oslo","days":14,"units":"imperial","big":-1}`, `{"city":"Oslo","days":14,"units":"imperial","big":-1}`},
		"integers as floats": {`{"city":"Oslo","days":3.0,"big":1e3}`, `{"city":"Oslo","days":3,"units":"metric","big":1000}`},
		"defaults deep down": {`{"city":"Oslo","spots":[{"name":"a"},{"name":"b","zoom":0}]}`,
			`{"city":"Oslo","days":2,"units":"metric","big":9007199254740993,"spots":[{"name":"a","zoom":3},{"name":"b","zoom":0}]}`},
		"a time": {`{"city":"Oslo","since":"2026-01-02T03:04:05Z"}`, `{"city":"Oslo","days":2,"units":"metric","big":9007199254740993,"since":"2026-01-02T03:04:05Z"}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got weatherIn
			h := sdktest.New(t, pluginOf(func(_ context.Context, in weatherIn) (string, error) { got = in; return "", nil }))
			if r := h.Call("x", tt.arguments); r.IsError || r.Err != nil {
				t.Fatal(r.Text(), r.Err)
			}
			text, _ := json.Marshal(got)
			if diff := cmp.Diff(tt.want, string(text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestArgumentsThatTheModelMustCorrect(t *testing.T) {
	tests := map[string]struct{ arguments, want string }{
		"no JSON":       {`{"city":`, "not valid JSON"},
		"trailing data": {`{"city":"a"} {}`, "something follows"},
		"no object":     {`[]`, "must be a JSON object"},
		"missing":       {`{}`, `missing "city"`},
		"empty":         {``, `missing "city"`},
		"unknown":       {`{"city":"a","town":1}`, `unknown "town"`},
		"other case":    {`{"city":"a","Days":1}`, `unknown "Days"`},
		"unknown deep":  {`{"city":"a","spots":[{"name":"a","x":1}]}`, `spots[0]: unknown "x"`},
		"wrong type":    {`{"city":7}`, `city: must be string (at least 1 character(s)), but is number 7; send "7"`},
		"out of range":  {`{"city":"a","days":15}`, `days: must be at most 14, but is 15`},
		"not in enum":   {`{"city":"a","units":"si"}`, `units: must be one of ["metric","imperial"], but is "si"`},
		"no integer":    {`{"city":"a","days":1.5}`, `days: must be integer (at least 1, at most 14), but is number 1.5`},
		"null":          {`{"city":null}`, `city: must be string`},
		"too large":     {`{"city":"a","small":300}`, `small: must be at most 127, but is 300`},
		"no time":       {`{"city":"a","since":"yesterday"}`, `since: must be a valid date-time such as 2026-02-28T15:04:05Z, but is "yesterday"`},
		"large integer": {`{"city":"a","big":1e300}`, `big: must fit the type int64, but is 1e300`},
		"huge exponent": {`{"city":"a","days":1e1000001}`, `days`},
		"huge integer":  {`{"city":"a","big":99999999999999999999}`, `big: must fit the type int64, but is 99999999999999999999`},
		"bad address":   {`{"city":"a","hosts":{"x":["1.2.3.4","nowhere"]}}`, `hosts.x[1]: must be a value that can be read`},
	}
	h := sdktest.New(t, pluginOf(func(context.Context, weatherIn) (string, error) {
		t.Error("the tool ran")
		return "", nil
	}))
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := h.Call("x", tt.arguments)
			if r.Err != nil || !r.IsError {
				t.Fatalf("got %v and result %q, want a tool error", r.Err, r.Text())
			}
			if !strings.Contains(r.Text(), tt.want) {
				t.Errorf("the error says\n%s\nwant %q in it", r.Text(), tt.want)
			}
		})
	}
}

func TestRawArguments(t *testing.T) {
	const text = `{"n":12345678901234567890,"s":"<"}`
	raw := sdktest.New(t, pluginOf(func(_ context.Context, in json.RawMessage) (string, error) { return string(in), nil }))
	if got := raw.Call("x", text); got.Text() != text {
		t.Errorf("raw: got %s (%v)", got.Text(), got.Err)
	}
	asMap := sdktest.New(t, pluginOf(func(_ context.Context, in map[string]any) (string, error) { return in["s"].(string), nil }))
	if got := asMap.Call("x", text); got.Text() != "<" {
		t.Errorf("map: got %s (%v)", got.Text(), got.Err)
	}
}

func TestExplicitSchemaReplacesTheDerivedOne(t *testing.T) {
	spec := sdk.Spec{Name: "x", Description: "x", InputSchema: json.RawMessage(`{
		"type":"object","properties":{"a":{"$ref":"#/$defs/a"},"b":{"type":"string","default":"B"}},"required":["a"],
		"$defs":{"a":{"type":"string","pattern":"^x"}}}`)}
	h := sdktest.New(t, sdk.Plugin{Name: "p", Tools: []sdk.Tool{
		sdk.Func(spec, func(_ context.Context, in struct{ A, B string }) (string, error) { return in.A + in.B, nil }),
	}})
	if got := h.Call("x", `{"a":"xy"}`); got.Text() != "xyB" {
		t.Errorf("got %q (%v)", got.Text(), got.Err)
	}
	if got := h.Call("x", `{"a":"y"}`); !got.IsError || !strings.Contains(got.Text(), "pattern") {
		t.Errorf("got %q (%v), want an error", got.Text(), got.Err)
	}
	if got := h.Call("x", `{"a":"xy","c":1}`); !got.IsError || !strings.Contains(got.Text(), "unknown field") {
		t.Errorf("got %q (%v), want an error: the struct has no c", got.Text(), got.Err)
	}
}

func TestStrictToolsGetTheirArgumentsAsTheyAre(t *testing.T) {
	h := sdktest.New(t, sdk.Plugin{Name: "p", Tools: []sdk.Tool{
		sdk.Func(sdk.Spec{Name: "x", Description: "x", Strict: true}, func(_ context.Context, in struct {
			N int `json:"n" default:"3"`
		}) (int, error) {
			return in.N, nil
		}),
	}})
	if got := h.Call("x", `{}`); got.Text() != "0" {
		t.Errorf("got %s, %v; want no default", got.Text(), got.Err)
	}
	if got := h.Call("x", `{"n":1.0}`); !got.IsError || !strings.Contains(got.Text(), "n: must fit the type int, but is 1.0") {
		t.Errorf("got %s, %v; want no repair", got.Text(), got.Err)
	}
}
