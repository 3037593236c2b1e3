package sdktest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/sdktest"
)

// The examples use t as a test does. In a test, t is its *testing.T.
var t testing.TB = exampleT{}

// exampleT has the methods of a testing.TB that sdktest calls. A failure ends the example.
type exampleT struct{ testing.TB }

func (exampleT) Helper()                           {}
func (exampleT) Cleanup(func())                    {}
func (exampleT) Context() context.Context          { return context.Background() }
func (exampleT) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (exampleT) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// greeter is the plugin of the examples.
func greeter() sdk.Plugin {
	type In struct {
		Name string `json:"name" minLength:"1"`
	}
	greet := func(ctx context.Context, in In) (string, error) {
		sdk.ReportStatus(ctx, sdk.Status{State: sdk.StatusDoing, Message: "greeting " + in.Name})
		return "Hello " + in.Name, nil
	}
	return sdk.Plugin{Name: "greeter", Version: "1.0.0", Tools: []sdk.Tool{
		sdk.Func(sdk.Spec{Name: "greet", Description: "Greets a person."}, greet),
	}}
}

// New checks the plugin, and Call runs a tool as a toolhost does.
func ExampleNew() {
	h := sdktest.New(t, greeter())
	fmt.Println(h.Call("greet", `{"name":"Ada"}`).Text())
	fmt.Println(h.Call("greet", `{"name":""}`).IsError)
	// Output:
	// Hello Ada
	// true
}

// Stream sends the arguments in pieces, as a model writes them.
func ExampleHost_Stream() {
	s := sdktest.New(t, greeter()).Stream("greet")
	s.Append(`{"name":`)
	s.Append(`"Ada"}`)
	s.Complete(nil)
	got := s.Wait()
	fmt.Println(got.Text(), "|", got.Statuses[0].Message)
	// Output:
	// Hello Ada | greeting Ada
}

// Before runs a filter on a call that no tool executes.
func ExampleHost_Before() {
	filter := sdk.Filter{
		Name: "quiet", Description: "Denies loud names.",
		Before: func(_ context.Context, call *sdk.FilterCall) error {
			call.Deny("no calls at night")
			return nil
		},
	}
	h := sdktest.New(t, sdk.Plugin{Name: "filters", Version: "1.0.0", Filters: []sdk.Filter{filter}})
	got := h.Before("quiet", sdk.FilterCall{Tool: "greet", Arguments: []byte(`{"name":"ADA"}`)})
	fmt.Println(got.Denied, got.Reason)
	// Output:
	// true no calls at night
}
