package hosttest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/tool"
)

// summaries returns a short text for each block, so that a failed comparison of blocks of many
// megabytes prints a few lines.
func summaries(blocks []tool.Content) []string {
	all := []string{}
	for _, c := range blocks {
		data := append(append([]byte(c.Text), c.JSON...), c.Data...)
		sum := sha256.Sum256(data)
		all = append(all, fmt.Sprintf("%s %q %q %d %s", c.Kind, c.MediaType, c.Name, len(data), hex.EncodeToString(sum[:8])))
	}
	return all
}

func testEvents(t *testing.T, h Host) {
	e := open(t, h, named("events-1", "steps", `{"count":20,"bytes":10}`), true)
	events := drain(t, e)
	first := events[0].Started
	if first == nil || first.CallID != "events-1" || first.Plugin != PluginName || first.Instance == "" || first.Attempt != 1 {
		t.Errorf("the first event is %+v", events[0])
	}
	var steps []string
	for _, event := range events {
		if s := event.Status; s != nil && s.Progress != nil {
			steps = append(steps, fmt.Sprintf("%s %s %v/%v %s", s.State, s.Parameters, s.Progress.Done, s.Progress.Total, s.Message))
		}
	}
	var want []string
	for i := 1; i <= 20; i++ {
		want = append(want, fmt.Sprintf(`DOING {"step":%d} %d/20 %s`, i, i, pattern(10)))
	}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := e.Next(bounded(t)); !errors.Is(err, io.EOF) {
		t.Errorf("after the end Next returned %v", err)
	}
	if err := e.Send(bounded(t), []byte("x"), false); err != nil && tool.KindOf(err) != tool.KindInvalidArgument {
		t.Errorf("after the end Send returned %v", err)
	}
	e.Cancel("too late")
	e.Close()
	e.Close()
}

// A caller that wants only the outcome gets no other event, and a watcher of the same call gets all
// events.
func testOutcomeOnly(t *testing.T, h Host) {
	c := named("quiet-1", "steps", `{"count":3,"bytes":10}`)
	c.OutcomeOnly = true
	events := drain(t, open(t, h, c, true))
	if len(events) != 1 || events[0].Ended == nil || events[0].Ended.Err != nil {
		t.Errorf("events %+v", events)
	}
	watched := 0
	for _, err := range h.WatchCall(bounded(t), tool.CallKey{ID: c.ID}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		watched++
	}
	if watched < 5 {
		t.Errorf("a watcher saw %d events", watched)
	}
}

func testPartialArguments(t *testing.T, h Host) {
	e := open(t, h, call("preview", `{"te`), false)
	if err := e.Send(bounded(t), []byte("xt\":\"gr\xc3"), false); err != nil {
		t.Fatal(err)
	}
	untilStatus(t, e, "preview")
	if err := e.Send(bounded(t), []byte("\xbc\xc3\x9fe\""), false); err != nil {
		t.Fatal(err)
	}
	if err := e.Send(bounded(t), []byte("}"), true); err != nil {
		t.Fatal(err)
	}
	events := drain(t, e)
	if end := events[len(events)-1].Ended; end.Err != nil || end.Result.Text() != "grüße" {
		t.Errorf("got %+v", end)
	}
}

func testPartialArgumentsOfAnyTool(t *testing.T, h Host) {
	whole := `{"text":"` + pattern(300<<10) + `"}`
	c := named("pieces-1", "echo", "")
	c.MaxShown = everything()
	e := open(t, h, c, false)
	for rest := whole; rest != ""; {
		n := min(len(rest), 7001)
		if err := e.Send(bounded(t), []byte(rest[:n]), false); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	if err := e.Send(bounded(t), nil, true); err != nil {
		t.Fatal(err)
	}
	events := drain(t, e)
	if end := events[len(events)-1].Ended; end.Err != nil || end.Result.Text() != pattern(300<<10) {
		t.Errorf("got %d bytes, error %v", len(end.Result.Text()), end.Err)
	}
	bad := open(t, h, call("echo", `{"text"`), false)
	if err := bad.Send(bounded(t), []byte(`!`), true); err != nil {
		t.Fatal(err)
	}
	events = drain(t, bad)
	if end := events[len(events)-1].Ended; end.Err != nil || !end.Result.IsError {
		t.Errorf("malformed pieces gave %+v", end)
	}
}

func testAbandon(t *testing.T, h Host) {
	for _, id := range []string{"", "abandoned-1"} {
		e := open(t, h, named(id, "count", `{"key":"k"`), false)
		e.Close()
		e.Close()
	}
	if got := text(t, h, named("abandoned-1", "count", `{"key":"k"}`)); got != "1" {
		t.Errorf("the count is %s, want 1: an abandoned call was executed", got)
	}
}

func testCancel(t *testing.T, h Host) {
	for _, id := range []string{"", "cancel-1"} {
		e := open(t, h, named(id, "wait", `{"key":"k"}`), true)
		untilStatus(t, e, "waiting")
		e.Cancel("the user pressed stop")
		e.Cancel("again")
		events := drain(t, e)
		checkKind(t, events[len(events)-1].Ended.Err, tool.KindCancelled)
		untilText(t, h, call("waiting", `{"key":"k"}`), "0")
	}
}

func testCancelBeforeComplete(t *testing.T, h Host) {
	e := open(t, h, call("count", `{"key":`), false)
	e.Cancel("changed my mind")
	events := drain(t, e)
	checkKind(t, events[len(events)-1].Ended.Err, tool.KindCancelled)
	if got := text(t, h, call("count", `{"key":"k"}`)); got != "1" {
		t.Errorf("the count is %s, want 1", got)
	}
}

func testDeadline(t *testing.T, h Host) {
	c := call("wait", `{"key":"k"}`)
	c.Timeout = 50 * time.Millisecond
	refused(t, h, c, tool.KindTimeout)
	untilText(t, h, call("waiting", `{"key":"k"}`), "0")
}

func testCloseCancelsANamelessCall(t *testing.T, h Host) {
	e := open(t, h, call("wait", `{"key":"k"}`), true)
	untilStatus(t, e, "waiting")
	e.Close()
	untilText(t, h, call("waiting", `{"key":"k"}`), "0")
}

func testCloseLeavesANamedCall(t *testing.T, h Host) {
	e := open(t, h, named("left-1", "wait", `{"key":"k"}`), true)
	untilStatus(t, e, "waiting")
	e.Close()
	if got := text(t, h, call("waiting", `{"key":"k"}`)); got != "1" {
		t.Errorf("%s calls wait, want 1: the call has a name and goes on", got)
	}
	text(t, h, call("release", `{"key":"k"}`))
	if got := text(t, h, named("left-1", "wait", `{"key":"k"}`)); got != "released" {
		t.Errorf("got %q", got)
	}
}

func testNextIsCancellable(t *testing.T, h Host) {
	e := open(t, h, call("wait", `{"key":"k"}`), true)
	untilStatus(t, e, "waiting")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Next returned %v", err)
	}
	text(t, h, call("release", `{"key":"k"}`))
	events := drain(t, e)
	if end := events[len(events)-1].Ended; end.Err != nil || end.Result.Text() != "released" {
		t.Errorf("after a cancelled Next: %+v", end)
	}
}

func testManyCallsAtOnce(t *testing.T, h Host) {
	const n = 200
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			want := strconv.Itoa(i)
			outcome, err := attempt(bounded(t), h, named("many-"+want, "echo", `{"text":"`+want+`"}`))
			if err != nil || outcome.Err != nil || outcome.Result.Text() != want || outcome.CallID != "many-"+want {
				t.Errorf("call %d: %+v, %v", i, outcome, err)
			}
		})
	}
	group.Wait()
	plugins, err := h.Plugins(bounded(t))
	if err != nil || len(plugins) != 1 || plugins[0].Launches != 1 {
		t.Errorf("got %+v, %v; want one launch", plugins, err)
	}
}

func testSlowConsumer(t *testing.T, h Host) {
	// 8 MiB of events exceed every flow control window on the way. A host may drop some of them,
	// but not the end.
	slow := open(t, h, call("steps", `{"count":512,"bytes":16384}`), true)
	for i := range 50 {
		want := strconv.Itoa(i)
		if got := text(t, h, call("echo", `{"text":"`+want+`"}`)); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	events := drain(t, slow)
	if end := events[len(events)-1].Ended; end.Err != nil || end.Result.Text() != "512 steps" {
		t.Errorf("got %+v", end)
	}
}
