package hosttest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/tool"
)

// watch returns the events of a call after a number, up to the end of the call.
func watch(t *testing.T, h Host, key tool.CallKey, after uint64) []tool.Event {
	t.Helper()
	var events []tool.Event
	for event, err := range h.WatchCall(bounded(t), key, after) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, event)
	}
	return events
}

// A late watcher gets all events of a call, and a watcher that has seen some events gets each of
// the others once.
func testWatchCall(t *testing.T, h Host) {
	e := open(t, h, named("watch-1", "steps", `{"count":50,"bytes":3000}`), true)
	want := drain(t, e)
	key := tool.CallKey{ID: "watch-1"}
	if diff := cmp.Diff(want, watch(t, h, key, 0)); diff != "" {
		t.Errorf("from the first event (-caller +watcher):\n%s", diff)
	}
	for _, after := range []int{1, 17, len(want) - 1, len(want)} {
		if diff := cmp.Diff(want[after:], watch(t, h, key, uint64(after)), cmp.Transformer("", func(e []tool.Event) []tool.Event {
			return append([]tool.Event{}, e...)
		})); diff != "" {
			t.Errorf("after event %d (-caller +watcher):\n%s", after, diff)
		}
	}
	shown := named("watch-2", "large", `{"bytes":300000,"kind":"text"}`)
	shown.MaxShown = everything()
	result := open(t, h, shown, true)
	caller := drain(t, result)
	watched := watch(t, h, tool.CallKey{ID: "watch-2"}, 0)
	if got, want := watched[len(watched)-1].Ended.Result.Text(), caller[len(caller)-1].Ended.Result.Text(); got != want {
		t.Errorf("the watcher got %d bytes, the caller %d", len(got), len(want))
	}
}

// A caller that loses its connection and returns with the id gets every event exactly once: those
// that it missed, and those that follow.
func testComeBack(t *testing.T, h Host) {
	e := open(t, h, named("back-1", "wait", `{"key":"back"}`), true)
	var seen []tool.Event
	for len(seen) == 0 || seen[len(seen)-1].Status == nil {
		event, err := e.Next(bounded(t))
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, event)
	}
	e.Close() // as if the connection were lost; a call with an id goes on
	result(t, h, call("release", `{"key":"back"}`))
	seen = append(seen, watch(t, h, tool.CallKey{ID: "back-1"}, seen[len(seen)-1].Seq)...)
	if end := seen[len(seen)-1].Ended; end == nil || end.Err != nil || end.Replayed {
		t.Errorf("the call ended with %+v", seen[len(seen)-1])
	}
	for i, event := range seen {
		if event.Seq != uint64(i+1) {
			t.Errorf("event %d has the number %d", i+1, event.Seq)
		}
	}
}

// A watch of another session's call fails like a watch of a call that does not exist.
func testWatchOfNothing(t *testing.T, h Host) {
	c := named("here-1", "echo", `{"text":"x"}`)
	c.Session = "here"
	result(t, h, c)
	for name, tc := range map[string]struct {
		key  tool.CallKey
		kind tool.Kind
	}{
		"never made":       {tool.CallKey{ID: "nowhere"}, tool.KindNotFound},
		"another session":  {tool.CallKey{ID: "here-1", Session: "there"}, tool.KindNotFound},
		"without id":       {tool.CallKey{}, tool.KindInvalidArgument},
		"an id with blank": {tool.CallKey{ID: "a b"}, tool.KindInvalidArgument},
	} {
		for _, err := range h.WatchCall(bounded(t), tc.key, 0) {
			if tool.KindOf(err) != tc.kind {
				t.Errorf("%s: the watch gave %v, want %s", name, err, tc.kind)
			}
		}
		if err := h.CancelCall(bounded(t), tc.key, ""); tool.KindOf(err) != tc.kind {
			t.Errorf("%s: CancelCall gave %v, want %s", name, err, tc.kind)
		}
	}
	if events := watch(t, h, tool.CallKey{ID: "here-1", Session: "here"}, 0); events[len(events)-1].Ended.Result.Text() != "x" {
		t.Errorf("in its session the call ended with %+v", events[len(events)-1])
	}
}

// Every caller of the same principal can cancel a call by its key, any number of times.
func testCancelCall(t *testing.T, h Host) {
	e := open(t, h, named("stop-1", "wait", `{"key":"never"}`), true)
	untilStatus(t, e, "waiting")
	for range 2 {
		if err := h.CancelCall(bounded(t), tool.CallKey{ID: "stop-1"}, "enough of it"); err != nil {
			t.Fatal(err)
		}
	}
	events := drain(t, e)
	failure := events[len(events)-1].Ended.Err
	checkKind(t, failure, tool.KindCancelled)
	if failure != nil && !strings.Contains(failure.Message, "enough of it") {
		t.Errorf("it does not say why: %q", failure.Message)
	}
	if err := h.CancelCall(bounded(t), tool.CallKey{ID: "stop-1"}, ""); err != nil {
		t.Errorf("after the end: %v", err)
	}
}

// The host lists the calls that run and those that it remembers, the newest first, in pages.
func testListCalls(t *testing.T, h Host) {
	running := open(t, h, named("list-0", "wait", `{"key":"list"}`), true)
	untilStatus(t, running, "waiting")
	result(t, h, named("list-1", "echo", `{"text":"x"}`))
	result(t, h, named("list-2", "fail", `{"message":"no"}`))
	refused(t, h, named("list-3", "break", `{"kind":"internal"}`), tool.KindInternal)
	want := []string{"list-3 failed internal", "list-2 tool_error ", "list-1 succeeded ", "list-0 running "}
	for _, size := range []int{0, 1, 3, 4} {
		var got []string
		q := tool.CallQuery{PageSize: size}
		for more := true; more; more = q.PageToken != "" {
			page, err := h.Calls(bounded(t), q)
			if err != nil {
				t.Fatal(err)
			}
			if size > 0 && len(page.Calls) > size {
				t.Errorf("a page of %d calls, want at most %d", len(page.Calls), size)
			}
			for _, c := range page.Calls {
				got = append(got, c.CallID+" "+string(c.State)+" "+string(tool.KindOf(errorOf(c))))
				if c.Plugin != PluginName || c.Instance == "" || c.StartTime.IsZero() || c.EndTime.IsZero() != (c.State == tool.CallRunning) {
					t.Errorf("a call is %+v", c)
				}
			}
			q.PageToken = page.NextPageToken
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("in pages of %d (-want +got):\n%s", size, diff)
		}
	}
	page, err := h.Calls(bounded(t), tool.CallQuery{State: tool.CallRunning})
	if err != nil || len(page.Calls) != 1 || page.Calls[0].CallID != "list-0" {
		t.Errorf("running are %+v, %v", page.Calls, err)
	}
	if _, err := h.Calls(bounded(t), tool.CallQuery{PageToken: "nonsense!"}); tool.KindOf(err) != tool.KindInvalidArgument {
		t.Errorf("a wrong page token gives %v", err)
	}
	result(t, h, call("release", `{"key":"list"}`))
	drain(t, running)
}

func errorOf(c tool.CallRecord) error {
	if c.Err == nil {
		return nil
	}
	return c.Err
}
