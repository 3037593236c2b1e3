package host_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/internal/wire/filterjson"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// largestAnswer bounds the results of filters in TestFailingFilters, so that the test needs no
// large results.
const largestAnswer = 1 << 20

// hangs is a filter that answers only when its call is cancelled.
func hangs(ctx context.Context, _ filterjson.Request) (tool.Result, error) {
	<-ctx.Done()
	return tool.Result{}, ctx.Err()
}

// failures returns the ways in which a filter can fail, each with a part of the expected error.
func failures(p **filterPlugin) map[string]struct {
	run  filterFunc
	says string
} {
	type failure = struct {
		run  filterFunc
		says string
	}
	crash := func(ctx context.Context, _ filterjson.Request) (tool.Result, error) {
		go (*p).end(tool.Exit{Code: 3}) // ends with this call, which ends with the process
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	}
	return map[string]failure{
		"crash":   {crash, "exit code 3"},
		"timeout": {hangs, "did not answer within the 5s"},
		"garbage": {saysText(`{"what":1}`), `the member "what"`},
		"no JSON": {func(context.Context, filterjson.Request) (tool.Result, error) { return tool.TextResult("ok"), nil }, "text"},
		"a tool error": {func(context.Context, filterjson.Request) (tool.Result, error) {
			return tool.ErrorResult("no idea"), nil
		}, "no idea"},
		"an error": {func(context.Context, filterjson.Request) (tool.Result, error) {
			return tool.Result{}, tool.Errorf(tool.KindDenied, "leave me alone")
		}, "leave me alone"},
		"a panic":        {func(context.Context, filterjson.Request) (tool.Result, error) { panic("ouch") }, "ouch"},
		"a huge result":  {saysText(`{"x":"` + strings.Repeat("x", largestAnswer) + `"}`), "larger than"},
		"twice the same": {saysText(`{"arguments":{"text":1,"text":2}}`), "its answer"},
	}
}

// If a filter fails, the call ends with an error. If the filter is optional, the call continues
// without it. If the tool has run and has side effects, the error says that they have happened.
func TestFailingFilters(t *testing.T) {
	var current *filterPlugin
	for name, failure := range failures(&current) {
		for phase, filter := range map[string]string{"before": "before_it", "after": "after_it"} {
			for _, called := range []string{"echo", "count"} {
				if name == "twice the same" && phase == "after" {
					continue // arguments in an answer after the call mean nothing
				}
				t.Run(name+" "+phase+" "+called, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						for _, optional := range []bool{false, true} {
							r, p := newFilterRig(t, hosttest.Tools(), map[string]filterFunc{filter: failure.run}, nil,
								host.Filter{Name: filter, Optional: optional})
							r.wire.MaxResultBytes = largestAnswer
							current = p
							got := outcome(t, r, call(called, map[string]string{"echo": `{"text":"1"}`, "count": `{"key":"k"}`}[called]))
							if optional {
								if got.Err != nil || got.Result.Text() != "1" || got.Result.Metadata != nil {
									t.Errorf("skipped, it gave %+v, %v", got.Result, got.Err)
								}
								continue
							}
							checkFailed(t, got, phase, called, filter, failure.says)
						}
					})
				})
			}
		}
	}
}

func checkFailed(t *testing.T, got tool.Outcome, phase, called, filter, says string) {
	t.Helper()
	if got.Err == nil {
		t.Fatalf("got %+v", got.Result)
	}
	want, kind := "nothing was executed", got.Err.Kind == tool.KindUnavailable || got.Err.Kind == tool.KindInternal
	switch {
	case phase == "after" && called == "count":
		want, kind = "its side effects have happened", got.Err.Kind == tool.KindOutcomeUnknown
	case phase == "after":
		want = "it can be called again"
	}
	for _, text := range []string{want, says, `the filter "` + filter + `"`} {
		if !kind || !strings.Contains(got.Err.Message, text) {
			t.Errorf("got %s: %s; want %q in it", got.Err.Kind, got.Err.Message, text)
		}
	}
	if len(got.Result.Content) != 0 {
		t.Errorf("something of the result is told: %+v", got.Result)
	}
}

// If no plugin has a configured filter, calls that need it are refused, and the error names the
// filter.
func TestAFilterThatIsNotThere(t *testing.T) {
	for name, change := range map[string]func(*host.Config){
		"unknown":  nil,
		"disabled": func(cfg *host.Config) { cfg.Disabled = func(plugin string) bool { return plugin == filterPluginName } },
	} {
		t.Run(name, func(t *testing.T) {
			use := host.Filter{Name: map[string]string{"unknown": "redcat", "disabled": "redact"}[name]}
			r, _ := newFilterRig(t, hosttest.Tools(), map[string]filterFunc{"redact": marks("redact")}, change, use)
			got := outcome(t, r, call("count", `{"key":"k"}`))
			if got.Err == nil || got.Err.Kind != tool.KindUnavailable || !strings.Contains(got.Err.Message, use.Name) || r.started() != 0 {
				t.Errorf("got %+v, with %d processes", got.Err, r.started())
			}
			use.Optional = true
			r, _ = newFilterRig(t, hosttest.Tools(), map[string]filterFunc{"redact": marks("redact")}, change, use)
			if got := outcome(t, r, call("echo", `{"text":"x"}`)); got.Err != nil || got.Result.Text() != "x" {
				t.Errorf("skipped, it gave %+v, %v", got.Result, got.Err)
			}
		})
	}
}

// A filter of a paused plugin fails like one that no plugin has.
func TestAPausedFilter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newFilterRig(t, hosttest.Tools(), map[string]filterFunc{"f": marks("f")}, nil, host.Filter{Name: "f"})
		if err := r.Pause(t.Context(), filterPluginName, ""); err != nil {
			t.Fatal(err)
		}
		got := outcome(t, r, call("count", `{"key":"k"}`))
		if got.Err == nil || got.Err.Kind != tool.KindUnavailable || !strings.Contains(got.Err.Message, `the filter "f"`) {
			t.Errorf("got %+v", got.Err)
		}
	})
}

// An error of the infrastructure is no result, and filters do not get it.
func TestAFailedCallIsNotFiltered(t *testing.T) {
	r, p := newFilterRig(t, hosttest.Tools(), map[string]filterFunc{"after": marks("after")}, nil, host.Filter{Name: "after"})
	got := outcome(t, r, call("break", `{"kind":"unavailable"}`))
	if got.Err == nil || got.Err.Kind != tool.KindUnavailable || len(p.questions()) != 0 {
		t.Errorf("got %+v", got)
	}
	if got := outcome(t, r, call("fail", `{"message":"no"}`)); !strings.Contains(got.Result.Text(), "no after") {
		t.Errorf("what a tool says of its failure was not filtered: %+v", got)
	}
}

// The deadline of a call can pass while a filter is asked, also an optional one.
func TestTheCallsTimeEndsWhileAFilterIsAsked(t *testing.T) {
	for filter, want := range map[string]string{"before_it": "nothing was executed", "after_it": "was executed"} {
		synctest.Test(t, func(t *testing.T) {
			r, _ := newFilterRig(t, hosttest.Tools(), map[string]filterFunc{filter: hangs}, nil, host.Filter{Name: filter, Timeout: time.Minute})
			c := call("count", `{"key":"k"}`)
			c.Timeout = 2 * time.Second
			began := time.Now()
			got := outcome(t, r, c)
			if got.Err == nil || got.Err.Kind != tool.KindTimeout || !strings.Contains(got.Err.Message, want) || time.Since(began) != c.Timeout {
				t.Errorf("%s: after %v got %+v", filter, time.Since(began), got.Err)
			}
		})
	}
}

// A cancel ends the filter's call and the call itself, also if the filter is optional.
func TestCancelWhileAFilterIsAsked(t *testing.T) {
	for filter, want := range map[string]string{"before_it": `while the filter "before_it" was asked; nothing was executed`, "after_it": "was executed"} {
		t.Run(filter, func(t *testing.T) {
			asked, stopped := make(chan struct{}), make(chan struct{})
			r, _ := newFilterRig(t, hosttest.Tools(), map[string]filterFunc{filter: func(ctx context.Context, q filterjson.Request) (tool.Result, error) {
				close(asked)
				defer close(stopped)
				return hangs(ctx, q)
			}}, nil, host.Filter{Name: filter, Optional: filter == "before_it"})
			e, err := r.Open(t.Context(), call("count", `{"key":"k"}`), true)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			<-asked
			e.Cancel("enough")
			got := end(t, e)
			if got.Err == nil || got.Err.Kind != tool.KindCancelled || !strings.Contains(got.Err.Message, want) || !strings.Contains(got.Err.Message, "enough") {
				t.Errorf("got %+v", got.Err)
			}
			<-stopped
		})
	}
}

// Arguments from a filter that exceed the bound are refused.
func TestArgumentsThatAFilterMakesTooLarge(t *testing.T) {
	large, err := json.Marshal(map[string]any{"arguments": map[string]string{"text": strings.Repeat("x", 2000)}})
	if err != nil {
		t.Fatal(err)
	}
	r, _ := newFilterRig(t, hosttest.Tools(), map[string]filterFunc{"before": saysText(string(large))},
		func(cfg *host.Config) { cfg.MaxArgumentBytes = 1000 }, host.Filter{Name: "before"})
	if got := outcome(t, r, call("echo", `{"text":"x"}`)); got.Err == nil || !strings.Contains(got.Err.Message, "larger than 1000 bytes") {
		t.Errorf("got %+v", got)
	}
}

// Close during a request to a filter leaves no goroutine: TestMain checks that.
func TestCloseWhileAFilterIsAsked(t *testing.T) {
	asked := make(chan struct{})
	r, _ := newFilterRig(t, hosttest.Tools(), map[string]filterFunc{"before": func(ctx context.Context, q filterjson.Request) (tool.Result, error) {
		close(asked)
		return hangs(ctx, q)
	}}, nil, host.Filter{Name: "before"})
	e, err := r.Open(t.Context(), call("count", `{"key":"k"}`), true)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	<-asked
	r.Close()
	if got := end(t, e); got.Err == nil || !strings.Contains(got.Err.Message, "nothing was executed") {
		t.Errorf("got %+v", got)
	}
}
