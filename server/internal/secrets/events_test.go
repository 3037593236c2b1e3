package secrets_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/tool"
)

// events returns all kinds of events, with a text in each field that can have one.
func events(text string) []tool.Event {
	value := json.RawMessage(fmt.Sprintf(`{"k":[%q]}`, text))
	members := map[string]json.RawMessage{"a " + text: value}
	return []tool.Event{
		{Started: &tool.Started{CallID: "c", Plugin: "p", Instance: "p-1"}},
		{Status: &tool.Status{Message: text, Parameters: value, Result: value, Progress: &tool.Progress{Done: 1, Message: text}}},
		{Status: &tool.Status{Message: text}},
		{Log: &tool.LogRecord{Message: text, Attributes: members}},
		{Ended: &tool.Outcome{CallID: "c", Err: &tool.Error{Kind: tool.KindCrashed, Message: text, Exit: &tool.Exit{
			Reason: text, LastStderr: []string{"one", text},
		}}}},
		{Ended: &tool.Outcome{CallID: "c", Result: tool.Result{
			Content: []tool.Content{
				tool.Text(text), tool.JSON(value), tool.File(text, "x/"+text, []byte(text)), tool.Image("image/png", []byte(text)),
				{Kind: tool.ContentText, Text: text, URI: "test://" + text},
				{Kind: tool.ContentArtifact, Artifact: &tool.Artifact{Handle: "h", Name: text, MediaType: text, Head: text, Tail: text}},
			},
			Effects: []tool.Effect{{Key: text, Value: value}}, Metadata: members,
		}}},
	}
}

// TestEvent checks that the redacted event contains no secret, and that the original event does not
// change.
func TestEvent(t *testing.T) {
	r := learnt("KEY", "hunter2hunter2")
	original := events("it is hunter2hunter2!")
	for i, want := range events("it is [secret KEY]!") {
		if diff := cmp.Diff(want, r.Event(original[i])); diff != "" {
			t.Errorf("event %d (-want +got):\n%s", i, diff)
		}
	}
	if diff := cmp.Diff(events("it is hunter2hunter2!"), original); diff != "" {
		t.Errorf("what was said has changed (-want +got):\n%s", diff)
	}
}

// TestSpec checks that the redacted description of a tool contains no secret.
func TestSpec(t *testing.T) {
	spec := func(text string) tool.Spec {
		value := json.RawMessage(fmt.Sprintf(`{"enum":[%q]}`, text))
		return tool.Spec{
			Name: "t", DisplayName: text, Description: text, InputSchema: value, OutputSchema: value,
			InputExamples: []tool.InputExample{{Description: text, Arguments: value}},
		}
	}
	original := spec("it is hunter2hunter2!")
	if diff := cmp.Diff(spec("it is [secret KEY]!"), learnt("KEY", "hunter2hunter2").Spec(original)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(spec("it is hunter2hunter2!"), original); diff != "" {
		t.Errorf("what was said has changed (-want +got):\n%s", diff)
	}
}

// TestErrorHidesItsCause checks that an error loses its cause only if the cause may contain a
// secret.
func TestErrorHidesItsCause(t *testing.T) {
	r := learnt("KEY", "hunter2hunter2")
	cause := errors.New("no hunter2hunter2")
	if got := r.Error(tool.Errorf(tool.KindInternal, "asking: %w", cause)); got.Message != "asking: no [secret KEY]" || errors.Is(got, cause) {
		t.Errorf("got %+v", got)
	}
	harmless := errors.New("no")
	if got := r.Error(tool.Errorf(tool.KindInternal, "asking: %w", harmless)); !errors.Is(got, harmless) {
		t.Errorf("got %+v", got)
	}
	if r.Error(nil) != nil {
		t.Error("nil became something")
	}
}

func TestWriter(t *testing.T) {
	r := learnt("PIN", "12345678")
	for _, tc := range []struct {
		record string
		isJSON bool
		want   string
	}{
		{"msg=x pin=12345678\n", false, "msg=x pin=[secret PIN]\n"},
		{`{"msg":"x","pin":12345678}` + "\n", true, `{"msg":"x","pin":"[secret PIN]"}` + "\n"},
		{`{"msg":"x"}` + "\n", true, `{"msg":"x"}` + "\n"},
	} {
		var got bytes.Buffer
		n, err := r.Writer(&got, tc.isJSON).Write([]byte(tc.record))
		if diff := cmp.Diff(tc.want, got.String()); diff != "" || n != len(tc.record) || err != nil {
			t.Errorf("%d, %v (-want +got):\n%s", n, err, diff)
		}
	}
	if _, err := r.Writer(failing{}, false).Write([]byte("x")); !errors.Is(err, errFull) {
		t.Errorf("the error is %v", err)
	}
}

var errFull = errors.New("full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }
