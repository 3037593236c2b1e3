//go:build more

package barecontract

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/tool"
)

// drafted is the JSON that the tool draft reports.
type drafted struct {
	Text     string   `json:"text"`
	Previews []string `json:"previews"`
	Object   int64    `json:"object"`
}

// testPartial checks that the plugin shows each prefix before the rest arrives, and that one object
// receives all prefixes and executes the call.
func testPartial(t *testing.T, h host) {
	const whole = `{"text":"höher als 4711 m 😀"}`
	// The second cut is inside a letter.
	cuts := []int{strings.Index(whole, "her"), strings.Index(whole, "😀") + 2, len(whole)}
	shown := []string{"hö", "höher als 4711 m "}
	e := open(t, h, tool.Call{Tool: "draft", Arguments: json.RawMessage(whole[:cuts[0]])}, false)
	defer e.Close()
	var object int64
	for i, want := range shown {
		status := nextStatus(t, e)
		var got drafted
		if err := json.Unmarshal(status.Parameters, &got); err != nil {
			t.Fatalf("the status is %+v: %v", status, err)
		}
		if status.State != tool.StatusWait || got.Text != want {
			t.Fatalf("the status is %s with %q, want WAIT with %q", status.State, got.Text, want)
		}
		if i > 0 && got.Object != object {
			t.Errorf("object %d sees the second prefix, %d saw the first", got.Object, object)
		}
		object = got.Object
		if err := e.Send(t.Context(), []byte(whole[cuts[i]:cuts[i+1]]), i == len(shown)-1); err != nil {
			t.Fatal(err)
		}
	}
	got := finish(t, e)
	var states []tool.StatusState
	for _, status := range got.statuses {
		states = append(states, status.State)
	}
	// The plugin may preview the complete text before it learns that the text is complete.
	states = slicesWithout(states, tool.StatusWait)
	if diff := cmp.Diff([]tool.StatusState{tool.StatusDoing, tool.StatusSuccess}, states); diff != "" {
		t.Errorf("the states after the previews (-want +got):\n%s", diff)
	}
	var end drafted
	if got.err != nil || json.Unmarshal(got.result.Content[0].JSON, &end) != nil {
		t.Fatalf("the outcome is %+v", got)
	}
	end.Previews = end.Previews[:min(len(shown), len(end.Previews))]
	if diff := cmp.Diff(drafted{Text: "höher als 4711 m 😀", Previews: shown, Object: object}, end); diff != "" {
		t.Errorf("what was executed (-want +got):\n%s", diff)
	}
}

func slicesWithout[T comparable](all []T, unwanted T) []T {
	var kept []T
	for _, v := range all {
		if v != unwanted {
			kept = append(kept, v)
		}
	}
	return kept
}

// testAbandoned checks that a call that is canceled before its arguments are complete is not
// executed and ends.
func testAbandoned(t *testing.T, h host) {
	e := open(t, h, tool.Call{Tool: "draft", Arguments: json.RawMessage(`{"text":"hal`)}, false)
	defer e.Close()
	if status := nextStatus(t, e); status.State != tool.StatusWait {
		t.Fatalf("the status is %+v, want WAIT", status)
	}
	e.Cancel("the model changed its mind")
	if got := finish(t, e); got.err == nil || got.err.Kind != tool.KindCancelled {
		t.Errorf("the call ended with %+v, want the error cancelled", got)
	}
}

func testCancel(t *testing.T, h host) {
	e := open(t, h, tool.Call{Tool: "wait", Arguments: json.RawMessage(`{}`)}, true)
	defer e.Close()
	if status := nextStatus(t, e); status.Message != "waiting" {
		t.Fatalf("the status is %+v, want that it waits", status)
	}
	e.Cancel("enough of 4711")
	got := finish(t, e)
	got.statuses = nil // the last status may report the failure
	if diff := cmp.Diff(failure(tool.KindCancelled, "enough of 4711"), got, sameCall); diff != "" {
		t.Errorf("how the call ended (-want +got):\n%s", diff)
	}
}

func testDeadline(t *testing.T, h host) {
	e := open(t, h, tool.Call{Tool: "wait", Arguments: json.RawMessage(`{}`), Timeout: 200 * time.Millisecond}, true)
	defer e.Close()
	if got := finish(t, e); got.err == nil || got.err.Kind != tool.KindTimeout {
		t.Errorf("the call ended with %+v, want the error timeout", got)
	}
}

// testManyAtOnce starts two hundred calls that wait for each other, and checks that all end.
func testManyAtOnce(t *testing.T, h host) {
	const count = 200
	call := tool.Call{Tool: "meet", Arguments: json.RawMessage(fmt.Sprintf(`{"room":%q,"count":%d}`, t.Name(), count))}
	executions := make([]tool.Execution, count)
	for i := range executions {
		executions[i] = open(t, h, call, true)
		defer executions[i].Close()
	}
	var wg sync.WaitGroup
	for _, e := range executions {
		wg.Go(func() { // ends with its call
			for {
				event, err := e.Next(t.Context())
				if err != nil {
					t.Errorf("reading a call: %v", err)
					return
				}
				if event.Ended != nil {
					if event.Ended.Err != nil || event.Ended.Result.Text() != "met 200" {
						t.Errorf("a call ended with %+v", event.Ended)
					}
					return
				}
			}
		})
	}
	wg.Wait()
}

// testBug checks that an exception in a tool ends only its call.
func testBug(t *testing.T, h host) {
	got := perform(t, h, tool.Call{Tool: "break_down", Arguments: json.RawMessage(`{"kind":"BUG","message":"divided 4711 by zero"}`)})
	got.logs = nil // a log record may contain the stack
	if diff := cmp.Diff(failure(tool.KindInternal, "divided 4711 by zero"), got, sameCall); diff != "" {
		t.Errorf("how the call ended (-want +got):\n%s", diff)
	}
}
