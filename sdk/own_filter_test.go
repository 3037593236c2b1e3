package sdk_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/sdktest"
	"github.com/toolhost/toolhost/tool"
)

type account struct {
	Number string `json:"number"`
}

// bank is a plugin whose tool returns what its filters must keep from callers.
func bank(filters ...sdk.Filter) sdk.Plugin {
	read := func(_ context.Context, in account) (string, error) {
		if in.Number == "0" {
			return "", sdk.Unavailable("the bank is closed")
		}
		return "account DE02120300000000202051 of " + in.Number, nil
	}
	return sdk.Plugin{Name: "bank", Version: "1.0.0", Filters: filters, Tools: []sdk.Tool{
		sdk.Func(sdk.Spec{Name: "read_account", Description: "Reads an account."}, read),
		sdk.Func(sdk.Spec{Name: "ping", Description: "Says where the bank is."}, func(context.Context, struct{}) (string, error) { return "DE02", nil }),
	}}
}

// masked is a filter that takes account numbers out of results.
func masked(name string, tools ...string) sdk.Filter {
	number := regexp.MustCompile(`[A-Z]{2}\d{20}`)
	return sdk.Filter{Name: name, Tools: tools, After: func(_ context.Context, c *sdk.FilterCall) error {
		c.SetResult(sdk.TextResult(number.ReplaceAllString(c.Result.Text(), "["+name+"]")))
		return nil
	}}
}

// A call in a test passes the filters that the plugin applies to the tool, like one of a toolhost.
func TestCallsPassOwnFilters(t *testing.T) {
	number := sdk.Filter{Name: "number", Tools: []string{"read_account"}, Before: func(_ context.Context, c *sdk.FilterCall) error {
		var in account
		switch err := c.DecodeArguments(&in); {
		case err != nil:
			return err
		case in.Number == "root":
			c.Deny("not this one")
		case in.Number == "cached":
			c.Answer(sdk.TextResult("from the cache"))
		case in.Number == "broken":
			return errors.New("no idea")
		default:
			c.SetArguments(account{strings.TrimLeft(in.Number, "#")})
		}
		return nil
	}}
	for _, h := range []*sdktest.Host{
		sdktest.New(t, bank(number, masked("outer", "read_account"), masked("inner", "read_account"), masked("free"))),
		sdktest.NewOverWire(t, bank(number, masked("outer", "read_account"), masked("inner", "read_account"), masked("free"))),
	} {
		for arguments, want := range map[string]string{
			`{"number":"#7"}`: "account [inner] of 7", `{`: "", // what is not JSON reaches no filter
		} {
			got := h.Call("read_account", arguments)
			if got.Err != nil || want != "" && got.Text() != want || got.IsError != (want == "") {
				t.Errorf("%s: got %+v", arguments, got)
			}
		}
		if got := h.Call("read_account", `{"number":7}`); got.Err == nil || !strings.Contains(got.Err.Message, "decoding the arguments") {
			t.Errorf("a filter got arguments that do not fit: %+v", got)
		}
		for number, want := range map[string]string{
			"root": "denied: the filter \"number\" denied the call: not this one", "broken": `unavailable: the filter "number" failed: no idea`,
			"cached": `internal: the filter "number" answered in place of the tool`, "0": "unavailable: the bank is closed",
		} {
			got := h.Call("read_account", account{number})
			if got.Err == nil || !strings.HasPrefix(fmt.Sprintf("%s: %s", got.Err.Kind, got.Err.Message), want) || len(got.Content) > 0 {
				t.Errorf("%s: got %+v", number, got.Err)
			}
		}
		if got := h.Call("ping", nil); got.Text() != "DE02" {
			t.Errorf("a tool without filters: %+v", got)
		}
	}
}

func TestOwnFilterDeclarations(t *testing.T) {
	if got := bank(masked("mask", "ping", "read_account")).Describe().Filters; len(got) != 1 || !slices.Equal(got[0].Tools, []string{"ping", "read_account"}) {
		t.Errorf("declared are %+v", got)
	}
	var many []sdk.Filter
	for i := range tool.MaxOwnFilters + 2 {
		many = append(many, masked(fmt.Sprint("f", i), "ping"))
	}
	if err := bank(many[:tool.MaxOwnFilters]...).Validate(); err != nil {
		t.Error(err)
	}
	if err := fmt.Sprint(bank(many...).Validate()); err != `filter "f8": more than 8 filters of the plugin apply to the tool "ping"` {
		t.Error(err)
	}
	err := bank(masked("mask", "read_accounts", "ping", "ping"), masked("read_account", "read_account")).Validate()
	var problems []string
	for line := range strings.Lines(fmt.Sprint(err)) {
		problems = append(problems, strings.TrimSpace(line))
	}
	want := []string{
		`filter "mask": it applies to the tool "read_accounts", which the plugin does not have`,
		`filter "mask": it names the tool "ping" twice`,
		`filter "read_account": a tool or another filter of the plugin has that name`,
	}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// A filter that a plugin applies to its own tool. The operator configures nothing.
func ExampleFilter_tools() {
	number := regexp.MustCompile(`[A-Z]{2}\d{20}`)
	mask := sdk.Filter{
		Name: "mask", Description: "Keeps account numbers out of results.", Tools: []string{"read_account"},
		After: func(_ context.Context, c *sdk.FilterCall) error {
			c.SetResult(sdk.TextResult(number.ReplaceAllString(c.Result.Text(), "[account]")))
			return nil
		},
	}
	h := sdktest.New(t, bank(mask))
	fmt.Println(h.Call("read_account", `{"number":"7"}`).Text())
	// Output:
	// account [account] of 7
}
