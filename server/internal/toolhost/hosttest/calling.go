package hosttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// patience bounds every wait of the suite, so that a host that hangs fails the test and does not
// block the test run.
const patience = 2 * time.Minute

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func call(name, arguments string) tool.Call {
	return tool.Call{Tool: name, Arguments: json.RawMessage(arguments)}
}

func named(id, name, arguments string) tool.Call {
	c := call(name, arguments)
	c.ID = id
	return c
}

// open opens a call that the host must accept, and closes it at the end of the test.
func open(t *testing.T, h Host, c tool.Call, complete bool) tool.Execution {
	t.Helper()
	e, err := h.Open(bounded(t), c, complete)
	if err != nil {
		t.Fatalf("opening a call of %s: %v", c.Tool, err)
	}
	t.Cleanup(e.Close)
	return e
}

// do executes a call. A host may refuse a call when it is opened, or end it with the same error.
// The suite treats both alike.
func do(t *testing.T, h Host, c tool.Call) tool.Outcome {
	t.Helper()
	outcome, err := attempt(bounded(t), h, c)
	if err != nil {
		t.Fatalf("calling %s: %v", c.Tool, err)
	}
	return outcome
}

// attempt is do for any goroutine. It returns an error if the host violates its contract.
func attempt(ctx context.Context, h Host, c tool.Call) (tool.Outcome, error) {
	e, err := h.Open(ctx, c, true)
	if err != nil {
		refusal, ok := errors.AsType[*tool.Error](err)
		if !ok {
			return tool.Outcome{}, fmt.Errorf("the error %w (%T) is no *tool.Error", err, err)
		}
		return tool.Outcome{CallID: c.ID, Err: refusal}, nil
	}
	defer e.Close()
	events, err := readAll(ctx, e)
	if err != nil {
		return tool.Outcome{}, err
	}
	return *events[len(events)-1].Ended, nil
}

// drain reads all events of a call, and checks the rules that the events of every call obey.
func drain(t *testing.T, e tool.Execution) []tool.Event {
	t.Helper()
	events, err := readAll(bounded(t), e)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func readAll(ctx context.Context, e tool.Execution) ([]tool.Event, error) {
	var events []tool.Event
	for {
		event, err := e.Next(ctx)
		if errors.Is(err, io.EOF) {
			return events, checkOrder(events)
		}
		if err != nil {
			return nil, fmt.Errorf("after %d events: %w", len(events), err)
		}
		events = append(events, event)
	}
}

func checkOrder(events []tool.Event) error {
	if len(events) == 0 {
		return errors.New("there are no events, not even an end")
	}
	for i, event := range events {
		last := i == len(events)-1
		if (event.Ended != nil) != last {
			return fmt.Errorf("event %d of %d is %+v: exactly the last is the end", i+1, len(events), event)
		}
		if i > 0 && event.Seq <= events[i-1].Seq && event.Seq != 0 {
			return fmt.Errorf("event %d has seq %d after %d", i+1, event.Seq, events[i-1].Seq)
		}
	}
	return nil
}

// result executes a call that must have a result, and returns the result.
func result(t *testing.T, h Host, c tool.Call) tool.Result {
	t.Helper()
	outcome := do(t, h, c)
	if outcome.Err != nil {
		t.Fatalf("calling %s: %s: %v", c.Tool, outcome.Err.Kind, outcome.Err)
	}
	return outcome.Result
}

// text executes a call that must succeed, and returns its text.
func text(t *testing.T, h Host, c tool.Call) string {
	t.Helper()
	r := result(t, h, c)
	if r.IsError {
		t.Fatalf("calling %s: the tool failed: %s", c.Tool, r.Text())
	}
	return r.Text()
}

// refused executes a call that must fail with a kind of error.
func refused(t *testing.T, h Host, c tool.Call, want tool.Kind) *tool.Error {
	t.Helper()
	outcome := do(t, h, c)
	checkKind(t, outcome.Err, want)
	return outcome.Err
}

func checkKind(t *testing.T, got *tool.Error, want tool.Kind) {
	t.Helper()
	switch {
	case got == nil:
		t.Fatalf("there is no error; want one of kind %s", want)
	case got.Kind != want:
		t.Fatalf("got an error of kind %s (%v), want %s", got.Kind, got, want)
	case got.Message == "":
		t.Fatalf("the error of kind %s says nothing", want)
	}
}

// untilStatus reads events up to the first status with a message.
func untilStatus(t *testing.T, e tool.Execution, message string) {
	t.Helper()
	ctx := bounded(t)
	for {
		event, err := e.Next(ctx)
		if err != nil {
			t.Fatalf("waiting for the status %q: %v", message, err)
		}
		if event.Ended != nil {
			t.Fatalf("the call ended before the status %q: %+v", message, event.Ended)
		}
		if event.Status != nil && event.Status.Message == message {
			return
		}
	}
}

// untilText repeats a call until its text is want. It is for state that a host changes in the
// background.
func untilText(t *testing.T, h Host, c tool.Call, want string) {
	t.Helper()
	ctx := bounded(t)
	for got := ""; got != want; {
		if ctx.Err() != nil {
			t.Fatalf("the text of %s %s stayed %q, want %q", c.Tool, c.Arguments, got, want)
		}
		got = text(t, h, c)
	}
}
