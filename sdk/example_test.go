package sdk_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/sdktest"
)

// This is a whole plugin with one tool, made from a typed function.
func ExampleServe() {
	type In struct {
		City string `json:"city" jsonschema:"the city's name, in English"`
		Days int    `json:"days,omitempty" default:"1" minimum:"1" maximum:"14"`
	}
	type Out struct {
		Summary string `json:"summary"`
	}
	forecast := func(ctx context.Context, in In) (Out, error) {
		return Out{Summary: fmt.Sprintf("%d days of rain in %s", in.Days, in.City)}, nil
	}
	sdk.Serve(sdk.Plugin{Name: "weather", Version: "1.0.0", Tools: []sdk.Tool{
		sdk.Func(sdk.Spec{Name: "forecast", Description: "The weather to come.", ReadOnly: true}, forecast),
	}})
}

// The input schema comes from the struct and its tags.
func ExampleFunc() {
	type In struct {
		Text  string   `json:"text" jsonschema:"what to count" minLength:"1"`
		Words []string `json:"words,omitempty" maxItems:"10"`
		Unit  string   `json:"unit" enum:"word,line" default:"word"`
	}
	count := sdk.Func(sdk.Spec{Name: "count", Description: "Counts."}, func(_ context.Context, in In) (int, error) {
		return len(strings.Fields(in.Text)), nil
	})
	fmt.Println(string(count.Spec().InputSchema))
	// Output:
	// {"type":"object","properties":{"text":{"type":"string","description":"what to count","minLength":1},"words":{"type":"array","items":{"type":"string"},"maxItems":10},"unit":{"type":"string","default":"word","enum":["word","line"]}},"required":["text"],"additionalProperties":false}
}

// writer shows a preview while the model still writes the text, and writes the complete text.
type writer struct{ lines int }

type writeIn struct {
	Text string `json:"text"`
}

// Partial sees the arguments so far. It only shows a status.
func (w *writer) Partial(ctx context.Context, soFar writeIn) {
	w.lines = strings.Count(soFar.Text, "\n") + 1
	sdk.ReportStatus(ctx, sdk.Status{Message: fmt.Sprintf("line %d", w.lines)})
}

// Call does the work.
func (w *writer) Call(ctx context.Context, in writeIn) (string, error) {
	if in.Text == "" {
		return "", errors.New("the text is empty; send what is to be written")
	}
	sdk.Logger(ctx).Info("writing", "bytes", len(in.Text))
	return fmt.Sprintf("%d bytes written", len(in.Text)), nil
}

// Close releases what the call holds.
func (w *writer) Close() error { return nil }

// Each call has an object, which keeps state from the first preview to the end of the call.
func ExampleObject() {
	write := sdk.Object(sdk.Spec{Name: "write", Description: "Writes a text.", PartialArguments: true},
		func(context.Context) (*writer, error) { return &writer{}, nil })
	fmt.Println(write.Spec().Name)
	// Output: write
}

// Validate reports an invalid declaration in a test, before a toolhost does.
func ExamplePlugin_Validate() {
	err := sdk.Plugin{Name: "weather", Tools: []sdk.Tool{
		sdk.Func(sdk.Spec{Name: "the forecast", Description: "The weather to come."},
			func(context.Context, struct {
				Days int `json:"days" default:"one"`
			}) (string, error) {
				return "", nil
			}),
	}}.Validate()
	fmt.Println(err)
	// Output:
	// tool "the forecast": its input: field days: the tag default:"one": "one" is not JSON, as a value of type integer must be
	// tool "the forecast": the name "the forecast" is ill-formed; use 1 to 64 of A-Z a-z 0-9 _ -, beginning with a letter
}

// The model reads an ordinary error and can correct its call. The caller gets an *Error and can
// repeat the call.
func ExampleUnavailable() {
	ask := func(_ context.Context, in struct {
		City string `json:"city"`
	}) (string, error) {
		if in.City == "Atlantis" {
			return "", errors.New("there is no city named Atlantis")
		}
		return "", sdk.Unavailable("the weather service does not answer")
	}
	_, err := ask(context.Background(), struct {
		City string `json:"city"`
	}{"Oslo"})
	infra, ok := errors.AsType[*sdk.Error](err)
	fmt.Println(ok, infra.Kind)
	// Output: true unavailable
}

// This is an author's test of the tool of ExampleObject.
func TestWriter(t *testing.T) {
	h := sdktest.New(t, sdk.Plugin{Name: "writer", Tools: []sdk.Tool{
		sdk.Object(sdk.Spec{Name: "write", Description: "Writes a text.", PartialArguments: true},
			func(context.Context) (*writer, error) { return &writer{}, nil }),
	}})
	s := h.Stream("write")
	s.Append(`{"text":"one\ntw`)
	s.WaitStatus(func(status sdk.Status) bool { return status.Message == "line 2" })
	s.Append(`o"}`)
	s.Complete(nil)
	if got := s.Wait(); got.Text() != "7 bytes written" || len(got.Logs) != 1 {
		t.Errorf("got %q, %v, %d log records", got.Text(), got.Err, len(got.Logs))
	}
	if got := h.Call("write", writeIn{}); !got.IsError {
		t.Errorf("an empty text: %q, %v", got.Text(), got.Err)
	}
}
