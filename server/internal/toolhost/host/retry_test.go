package host_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// moody fails a number of times with a kind of error, and then works.
func moody(spec tool.Spec, failures int, failure *tool.Error) (hosttest.Tool, *int) {
	tries := new(int)
	spec.Name, spec.Description = "moody", "Works now and then."
	return hosttest.Tool{Spec: spec, Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
		if *tries++; *tries <= failures {
			return tool.Result{}, failure
		}
		return tool.TextResult("at last"), nil
	}}, tries
}

// A call that is safe to repeat and failed temporarily is tried again as its tool declares,
// or as the operator says. No other call is.
func TestRetry(t *testing.T) {
	unavailable := tool.Errorf(tool.KindUnavailable, "not now")
	patient := tool.RetryPolicy{MaxAttempts: 4, InitialBackoff: time.Second, MaxBackoff: 2 * time.Second}
	for name, tc := range map[string]struct {
		spec     tool.Spec
		failures int
		failure  *tool.Error
		tries    int
		kind     tool.Kind
		retries  *int // the operator's max_retries
	}{
		"until it works":                    {tool.Spec{ReadOnly: true, Retry: patient}, 3, unavailable, 4, "", nil},
		"an idempotent one":                 {tool.Spec{Idempotent: true, Retry: patient}, 1, unavailable, 2, "", nil},
		"as often as it says":               {tool.Spec{ReadOnly: true, Retry: patient}, 9, unavailable, 4, tool.KindUnavailable, nil},
		"not if it does not say":            {tool.Spec{ReadOnly: true}, 9, unavailable, 1, tool.KindUnavailable, nil},
		"not with side effects":             {tool.Spec{Retry: patient}, 9, unavailable, 1, tool.KindUnavailable, nil},
		"not what does not pass":            {tool.Spec{ReadOnly: true, Retry: patient}, 9, tool.Errorf(tool.KindInternal, "a bug"), 1, tool.KindInternal, nil},
		"not beyond the deadline":           {tool.Spec{ReadOnly: true, Retry: patient, Timeout: 100 * time.Millisecond}, 9, unavailable, 1, tool.KindUnavailable, nil},
		"as the operator says":              {tool.Spec{ReadOnly: true}, 2, unavailable, 3, "", new(2)},
		"less often than the tool says":     {tool.Spec{ReadOnly: true, Retry: patient}, 9, unavailable, 2, tool.KindUnavailable, new(1)},
		"not at all, as the operator says":  {tool.Spec{ReadOnly: true, Retry: patient}, 9, unavailable, 1, tool.KindUnavailable, new(0)},
		"side effects, although it is set":  {tool.Spec{}, 9, unavailable, 1, tool.KindUnavailable, new(5)},
		"what is final, although it is set": {tool.Spec{ReadOnly: true}, 9, tool.Errorf(tool.KindInvalidArgument, "no"), 1, tool.KindInvalidArgument, new(5)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				failing, tries := moody(tc.spec, tc.failures, tc.failure)
				r := newRig(t, []hosttest.Tool{failing}, func(c *host.Config) {
					if tc.retries != nil {
						c.Catalog.Configure(catalog.Overrides{"moody": {MaxRetries: tc.retries}}, 0)
					}
				})
				got := outcome(t, r, call("moody", "{}"))
				if *tries != tc.tries {
					t.Errorf("%d tries, want %d", *tries, tc.tries)
				}
				if tc.kind == "" && (got.Err != nil || got.Result.Text() != "at last") || tc.kind != "" && (got.Err == nil || got.Err.Kind != tc.kind) {
					t.Errorf("the call ended with %+v, want %q", got, tc.kind)
				}
			})
		})
	}
}

// The waits between attempts grow within the tool's bounds. They are at least as long as the
// failure's RetryAfter.
func TestRetryWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := tool.Errorf(tool.KindRateLimited, "later")
		busy.RetryAfter = 5 * time.Second
		var when []time.Time
		spec := tool.Spec{
			Name: "moody", Description: "Works now and then.", ReadOnly: true,
			Retry: tool.RetryPolicy{MaxAttempts: 5, InitialBackoff: time.Second, MaxBackoff: 3 * time.Second},
		}
		r := newRig(t, []hosttest.Tool{{Spec: spec, Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
			when = append(when, time.Now())
			switch len(when) {
			case 1, 2, 3:
				return tool.Result{}, tool.Errorf(tool.KindUnavailable, "not now")
			case 4:
				return tool.Result{}, busy
			default:
				return tool.TextResult("ok"), nil
			}
		}}}, nil)
		e, err := r.Open(t.Context(), call("moody", "{}"), true)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		var attempts []uint32
		for {
			ev, err := e.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if ev.Started != nil {
				attempts = append(attempts, ev.Started.Attempt)
			}
			if ev.Ended != nil {
				break
			}
		}
		if len(attempts) != 5 || attempts[4] != 5 {
			t.Fatalf("the attempts were %v", attempts)
		}
		for i, bound := range []struct{ least, most time.Duration }{
			{time.Second / 2, time.Second}, {time.Second, 2 * time.Second}, {1500 * time.Millisecond, 3 * time.Second},
			{5 * time.Second, 5 * time.Second},
		} {
			if wait := when[i+1].Sub(when[i]); wait < bound.least || wait > bound.most+time.Millisecond {
				t.Errorf("the wait before try %d was %v, want %v to %v", i+2, wait, bound.least, bound.most)
			}
		}
	})
}

// A call that never started may be tried again, also if its tool has side effects.
func TestRetryOfALaunch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		works, tries := moody(tool.Spec{Retry: tool.RetryPolicy{MaxAttempts: 3}}, 0, nil)
		r := newRig(t, []hosttest.Tool{works}, nil)
		launches := 0
		r.launch = func(ctx context.Context, _ *catalog.Plugin, _ string) (host.Process, error) {
			if launches++; launches == 1 {
				return nil, errors.New("not today")
			}
			return r.start(ctx, hosttest.NewPlugin([]hosttest.Tool{works}))
		}
		if got := outcome(t, r, call("moody", "{}")); got.Err != nil || launches != 2 || *tries != 1 {
			t.Errorf("the call ended with %+v after %d launches and %d tries", got, launches, *tries)
		}
	})
}

// Progress extends the timeout if the tool says so, up to what the caller and the host allow.
func TestProgressExtendsTheTimeout(t *testing.T) {
	for name, tc := range map[string]struct {
		extends bool
		caller  time.Duration
		steps   int
		want    time.Duration // 0: the call succeeds
	}{
		"it does":             {true, 0, 20, 0},
		"it does not":         {false, 0, 20, 3 * time.Second},
		"up to the caller's":  {true, 10 * time.Second, 20, 10 * time.Second},
		"up to the host's":    {true, 0, 1000, 10 * time.Minute},
		"and not by anything": {true, 0, 0, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				steps := hosttest.Tool{
					Spec: tool.Spec{
						Name: "steps", Description: "Goes on.", Timeout: 3 * time.Second, ProgressExtendsTimeout: tc.extends,
					},
					Run: func(ctx context.Context, _ tool.Call, emit func(tool.Event)) (tool.Result, error) {
						for i := range tc.steps {
							select {
							case <-time.After(2 * time.Second):
							case <-ctx.Done():
								return tool.Result{}, ctx.Err()
							}
							emit(tool.Event{Status: &tool.Status{Progress: &tool.Progress{Done: float64(i)}}})
						}
						if tc.steps == 0 {
							<-ctx.Done()
						}
						return tool.TextResult("there"), nil
					},
				}
				r := newRig(t, []hosttest.Tool{steps}, nil)
				c := call("steps", "{}")
				c.Timeout = tc.caller
				began := time.Now()
				got := outcome(t, r, c)
				took := time.Since(began)
				if tc.want == 0 && got.Err != nil || tc.want > 0 && (got.Err == nil || got.Err.Kind != tool.KindTimeout || took != tc.want) {
					t.Errorf("the call ended after %v with %+v", took, got)
				}
				if got.Err != nil && !strings.Contains(got.Err.Message, tc.want.String()) {
					t.Errorf("it says %q, want the %v that it had", got.Err.Message, tc.want)
				}
			})
		})
	}
}

// An approval that names no arguments is for those of its call and the defaults that the tool
// declares, and for nothing else that becomes of them.
func TestApprovalCoversDeclaredDefaults(t *testing.T) {
	danger := hosttest.Tool{
		Spec: tool.Spec{Name: "danger", Description: "Bites.", Dangerous: true, InputSchema: []byte(
			`{"type":"object","properties":{"path":{"type":"string"},"depth":{"type":"integer","default":3},` +
				`"in":{"type":"object","properties":{"quiet":{"type":"boolean","default":true}}}}}`)},
		Run: func(_ context.Context, c tool.Call, _ func(tool.Event)) (tool.Result, error) {
			return tool.TextResult(string(c.Arguments)), nil
		},
	}
	r := newRig(t, []hosttest.Tool{danger}, nil)
	for name, tc := range map[string]struct{ given, executed string }{
		"a default":                   {`{"path":"a"}`, `{"depth":3,"path":"a"}`},
		"a default within":            {`{"in":{},"depth":1}`, `{"depth":1,"in":{"quiet":true}}`},
		"nothing is missing":          {`{"depth":1}`, `{"depth":1}`},
		"a repair":                    {`{"depth":"1"}`, ""},
		"a repair and a default":      {`{"in":{},"depth":"1"}`, ""},
		"a value that repair removes": {`{"depth":1,"path":null}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := call("danger", tc.given)
			c.Approval = &tool.Approval{ApprovedBy: "Ada"}
			e, err := r.Open(t.Context(), c, true)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			got := end(t, e)
			switch {
			case tc.executed == "" && (got.Err == nil || got.Err.Kind != tool.KindApprovalRequired):
				t.Errorf("the call ended with %+v, and needs another approval", got)
			case tc.executed != "" && (got.Err != nil || got.Result.Text() != tc.executed):
				t.Errorf("executed %q, %v, want %q", got.Result.Text(), got.Err, tc.executed)
			}
		})
	}
}

// The approval of one call does not approve another one.
func TestApprovalIsForTheseArguments(t *testing.T) {
	danger := hosttest.Tool{
		Spec: tool.Spec{Name: "danger", Description: "Bites.", Dangerous: true, InputSchema: []byte(`{"type":"object"}`)},
		Run: func(_ context.Context, c tool.Call, _ func(tool.Event)) (tool.Result, error) {
			return tool.TextResult(string(c.Arguments)), nil
		},
	}
	r := newRig(t, []hosttest.Tool{danger}, nil)
	for name, tc := range map[string]struct {
		agreed string
		pieces bool
		kind   tool.Kind
	}{
		"what it comes with":            {"", false, ""},
		"the same in other words":       {` { "b" : 1 , "a" : 2 } `, false, ""},
		"others":                        {`{"a":3,"b":1}`, false, tool.KindApprovalRequired},
		"no JSON":                       {`{"a"`, false, tool.KindInvalidArgument},
		"the same, to a stream":         {`{"a":2,"b":1}`, true, ""},
		"others, to a stream":           {`{"a":2}`, true, tool.KindApprovalRequired},
		"a stream that it knows not of": {"", true, tool.KindApprovalRequired},
	} {
		t.Run(name, func(t *testing.T) {
			c := call("danger", `{"a":2,"b":1}`)
			c.Approval = &tool.Approval{ApprovedBy: "Ada", Arguments: []byte(tc.agreed)}
			rest := ""
			if tc.pieces {
				rest, c.Arguments = string(c.Arguments[3:]), c.Arguments[:3]
			}
			e, err := r.Open(t.Context(), c, !tc.pieces)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			if tc.pieces {
				if err := e.Send(t.Context(), []byte(rest), true); err != nil {
					t.Fatal(err)
				}
			}
			got := end(t, e)
			if tc.kind == "" && got.Err != nil || tc.kind != "" && (got.Err == nil || got.Err.Kind != tc.kind) {
				t.Errorf("the call ended with %+v, want %q", got, tc.kind)
			}
		})
	}
}
