package sdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/sdktest"
)

// The filter of this plugin removes keys from the results of all tools.
func ExampleFilter() {
	key := regexp.MustCompile(`sk-\w+`)
	redact := func(_ context.Context, c *sdk.FilterCall) error {
		for i := range c.Result.Content {
			c.Result.Content[i].Text = key.ReplaceAllString(c.Result.Content[i].Text, "[removed]")
		}
		c.SetResult(c.Result)
		return nil
	}
	sdk.Serve(sdk.Plugin{Name: "privacy", Version: "1.0.0", Filters: []sdk.Filter{
		{Name: "redact", Description: "Keeps keys out of results.", After: redact},
	}})
}

// filters is a plugin with filters only. The name of each says what it does.
func filters() sdk.Plugin {
	before := func(name string, do func(c *sdk.FilterCall)) sdk.Filter {
		return sdk.Filter{Name: name, Before: func(_ context.Context, c *sdk.FilterCall) error { do(c); return nil }}
	}
	after := func(name string, do func(c *sdk.FilterCall)) sdk.Filter {
		return sdk.Filter{Name: name, After: func(_ context.Context, c *sdk.FilterCall) error { do(c); return nil }}
	}
	return sdk.Plugin{Name: "p", Filters: []sdk.Filter{
		before("nothing", func(*sdk.FilterCall) {}),
		before("deny", func(c *sdk.FilterCall) { c.Deny("not " + c.Tool + " by " + c.Principal) }),
		before("answer", func(c *sdk.FilterCall) { c.Answer(sdk.TextResult(c.Session + c.CallID + c.Plugin)) }),
		before("arguments", func(c *sdk.FilterCall) {
			var in struct{ N int }
			if err := c.DecodeArguments(&in); err != nil {
				c.Deny(err.Error())
				return
			}
			c.SetArguments(map[string]any{"n": in.N + 1, "text": "<a>"})
		}),
		before("a list", nil), // replaced below, because the name is ill-formed
		before("list", func(c *sdk.FilterCall) { c.SetArguments([]int{1}) }),
		before("unencodable", func(c *sdk.FilterCall) { c.SetArguments(map[string]any{"f": func() {}}) }),
		before("too_early", func(c *sdk.FilterCall) { c.SetResult(sdk.TextResult("x")) }),
		before("changes_its_mind", func(c *sdk.FilterCall) { c.Deny("no"); c.SetArguments(struct{}{}) }),
		after("result", func(c *sdk.FilterCall) {
			c.Result.Content = append(c.Result.Content, sdk.Text(string(c.Arguments)))
			c.SetResult(c.Result)
		}),
		after("too_late", func(c *sdk.FilterCall) { c.Deny("x") }),
		after("mends", func(c *sdk.FilterCall) { c.SetResult(sdk.TextResult("a\xff")) }),
		after("broken", func(c *sdk.FilterCall) {
			c.SetResult(sdk.Result{Content: []sdk.Content{sdk.JSON(json.RawMessage(`{`))}})
		}),
		{Name: "fails", Before: func(context.Context, *sdk.FilterCall) error { return errors.New("I cannot") }},
		{Name: "panics", After: func(context.Context, *sdk.FilterCall) error { panic("ouch") }},
	}}
}

func filterHosts(t *testing.T) map[string]*sdktest.Host {
	plugin := filters()
	plugin.Filters = append(plugin.Filters[:4], plugin.Filters[5:]...)
	return map[string]*sdktest.Host{"direct": sdktest.New(t, plugin), "over the wire": sdktest.NewOverWire(t, plugin)}
}

func TestFiltersBefore(t *testing.T) {
	call := sdk.FilterCall{CallID: "c", Principal: "ada", Session: "s", Tool: "pay", Plugin: "bank", Arguments: json.RawMessage(`{"n":1}`)}
	for kind, h := range filterHosts(t) {
		for name, want := range map[string]sdktest.Filtered{
			"nothing":          {},
			"result":           {}, // the filter has no Before
			"deny":             {Denied: true, Reason: "not pay by ada"},
			"answer":           {Answer: &sdk.Result{Content: []sdk.Content{sdk.Text("scbank")}}},
			"arguments":        {Arguments: json.RawMessage(`{"n":2,"text":"<a>"}`)},
			"changes_its_mind": {Arguments: json.RawMessage(`{}`)},
		} {
			got := h.Before(name, call)
			got.Call = nil
			if diff := cmp.Diff(&want, got); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", name, kind, diff)
			}
		}
		for name, says := range map[string]string{
			"fails": "I cannot", "list": "no object", "unencodable": "unsupported type", "too_early": "SetResult, which can only be called after",
		} {
			if got := h.Before(name, call); got.Err == nil || !strings.Contains(got.Err.Error(), says) {
				t.Errorf("%s, %s: got %+v; want an error with %q", name, kind, got, says)
			}
		}
	}
}

func TestFiltersAfter(t *testing.T) {
	call := sdk.FilterCall{Tool: "pay", Arguments: json.RawMessage(`{"n":1}`), Result: sdk.TextResult("paid")}
	for kind, h := range filterHosts(t) {
		for name, want := range map[string]sdktest.Filtered{
			"deny":   {}, // the filter has no After
			"result": {Result: &sdk.Result{Content: []sdk.Content{sdk.Text("paid"), sdk.Text(`{"n":1}`)}}},
			"mends":  {Result: &sdk.Result{Content: []sdk.Content{sdk.Text("a\uFFFD")}}},
		} {
			got := h.After(name, call)
			got.Call = nil
			if diff := cmp.Diff(&want, got); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", name, kind, diff)
			}
		}
		for name, says := range map[string]string{
			"panics": "ouch", "broken": "not JSON", "too_late": "Deny, which can only be called before",
		} {
			if got := h.After(name, call); got.Err == nil || !strings.Contains(got.Err.Error(), says) {
				t.Errorf("%s, %s: got %+v; want an error with %q", name, kind, got, says)
			}
		}
	}
}

func TestFilterDeclarations(t *testing.T) {
	plugin := filters()
	plugin.Tools = []sdk.Tool{sdk.Func(sdk.Spec{Name: "deny", Description: "x"}, func(context.Context, struct{}) (string, error) { return "", nil })}
	plugin.Filters = append(plugin.Filters, sdk.Filter{Name: "answer", After: plugin.Filters[9].After}, sdk.Filter{Name: "idle"}, sdk.Filter{})
	err := fmt.Sprint(plugin.Validate())
	for _, want := range []string{
		`filter "deny": a tool or another filter`, `filter "answer": a tool or another filter`, `filter "a list": the name`,
		`filter "idle": it has neither`, `filter number 18: the name is empty`,
	} {
		if !strings.Contains(err, want) {
			t.Errorf("no error says %q:\n%s", want, err)
		}
	}
	d := plugin.Describe()
	if len(d.Filters) != 18 || !d.Filters[1].Before || d.Filters[1].After || d.Filters[9].Before || !d.Filters[9].After {
		t.Errorf("declared are %+v", d.Filters)
	}
	if err := (sdk.Plugin{Name: "p"}).Validate(); err == nil {
		t.Error("a plugin with neither tools nor filters validates")
	}
}
