package sdktest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/sdktest"
	"github.com/toolhost/toolhost/tool"
)

// recorder is a testing.TB that records failures.
type recorder struct {
	testing.TB
	mu       sync.Mutex
	problems []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// record returns what test reports to its testing.TB.
func record(t *testing.T, test func(tb testing.TB)) string {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() { defer close(done); test(r) }() // a fatal failure only ends this goroutine
	<-done
	return strings.Join(r.problems, "\n")
}

type out struct {
	City string `json:"city" enum:"Oslo,Bergen"`
}

func plugin() sdk.Plugin {
	return sdk.Plugin{Name: "p", Version: "2", Tools: []sdk.Tool{
		sdk.Func(sdk.Spec{Name: "city", Description: "x"}, func(_ context.Context, in struct {
			City string `json:"city"`
		}) (out, error) {
			return out{City: in.City}, nil
		}),
		sdk.Func(sdk.Spec{Name: "status", Description: "x"}, func(ctx context.Context, in map[string]json.RawMessage) (string, error) {
			sdk.ReportStatus(ctx, sdk.Status{Parameters: in["parameters"], Result: in["result"], Message: "seen"})
			return "", nil
		}),
	}}
}

func TestNewFailsForAPluginThatDoesNotValidate(t *testing.T) {
	for name, start := range map[string]func(testing.TB, sdk.Plugin) *sdktest.Host{"direct": sdktest.New, "over the wire": sdktest.NewOverWire} {
		got := record(t, func(tb testing.TB) { start(tb, sdk.Plugin{Name: "p"}) })
		if !strings.Contains(got, "the plugin has no tools") {
			t.Errorf("%s: reported %q", name, got)
		}
	}
}

func TestResultsMustFitTheOutputSchema(t *testing.T) {
	for name, start := range map[string]func(testing.TB, sdk.Plugin) *sdktest.Host{"direct": sdktest.New, "over the wire": sdktest.NewOverWire} {
		got := record(t, func(tb testing.TB) { start(tb, plugin()).Call("city", `{"city":"Atlantis"}`) })
		if !strings.Contains(got, `tool "city": its result does not fit its output schema`) {
			t.Errorf("%s: reported %q", name, got)
		}
		if got := record(t, func(tb testing.TB) { start(tb, plugin()).Call("city", `{"city":"Oslo"}`) }); got != "" {
			t.Errorf("%s: a result that fits: reported %q", name, got)
		}
		if got := record(t, func(tb testing.TB) { start(tb, plugin()).Call("city", `{}`) }); got != "" {
			t.Errorf("%s: a tool error: reported %q", name, got)
		}
	}
}

func TestStatusesMustBeJSON(t *testing.T) {
	for _, arguments := range []string{`{"parameters":[1]}`, `{"parameters":"x"}`} {
		if got := record(t, func(tb testing.TB) { sdktest.New(tb, plugin()).Call("status", arguments) }); !strings.Contains(got, "no JSON object") {
			t.Errorf("%s: reported %q", arguments, got)
		}
	}
	if got := record(t, func(tb testing.TB) { sdktest.New(tb, plugin()).Call("status", `{"parameters":{"a":1},"result":2}`) }); got != "" {
		t.Errorf("reported %q", got)
	}
}

func TestWaitStatusFailsWhereTheCallEndsWithout(t *testing.T) {
	got := record(t, func(tb testing.TB) {
		s := sdktest.New(tb, plugin()).Stream("status")
		s.Complete(`{}`)
		s.WaitStatus(func(s tool.Status) bool { return s.Message == "never" })
	})
	if !strings.Contains(got, "ended without such a status") {
		t.Errorf("reported %q", got)
	}
}

func TestArgumentsMayBeAnyValue(t *testing.T) {
	h := sdktest.New(t, plugin())
	for _, arguments := range []any{
		`{"city":"Oslo"}`, []byte(`{"city":"Oslo"}`), json.RawMessage(`{"city":"Oslo"}`), map[string]string{"city": "Oslo"}, out{City: "Oslo"},
	} {
		if got := h.Call("city", arguments); got.Text() != `{"city":"Oslo"}` {
			t.Errorf("%T: got %q, %v", arguments, got.Text(), got.Err)
		}
	}
	if got := record(t, func(tb testing.TB) { sdktest.New(tb, plugin()).Call("city", make(chan int)) }); !strings.Contains(got, "encoding the arguments") {
		t.Errorf("reported %q", got)
	}
}

func TestDescribe(t *testing.T) {
	for name, h := range map[string]*sdktest.Host{"direct": sdktest.New(t, plugin()), "over the wire": sdktest.NewOverWire(t, plugin())} {
		d := h.Describe()
		if d.Name != "p" || d.Version != "2" || len(d.Tools) != 2 || len(d.Tools[0].InputSchema) == 0 || len(d.Tools[0].OutputSchema) == 0 {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestCallsHaveDifferentIDs(t *testing.T) {
	h := sdktest.New(t, sdk.Plugin{Name: "p", Tools: []sdk.Tool{
		sdk.Func(sdk.Spec{Name: "id", Description: "x"}, func(ctx context.Context, _ struct{}) (string, error) { return sdk.CallID(ctx), nil }),
	}})
	first, second := h.Call("id", nil).Text(), h.Call("id", nil).Text()
	if first == "" || first == second {
		t.Errorf("ids %q and %q", first, second)
	}
}

func TestToolThatEndsItsGoroutine(t *testing.T) {
	goexit := sdk.Plugin{Name: "p", Tools: []sdk.Tool{
		sdk.Func(sdk.Spec{Name: "x", Description: "x"}, func(context.Context, struct{}) (string, error) { runtime.Goexit(); return "", nil }),
	}}
	for name, h := range map[string]*sdktest.Host{"direct": sdktest.New(t, goexit), "over the wire": sdktest.NewOverWire(t, goexit)} {
		if got := h.Call("x", nil); got.Err == nil || got.Err.Kind != tool.KindInternal {
			t.Errorf("%s: got %q, %v; want an internal error", name, got.Text(), got.Err)
		}
	}
}

// The result of a settlement has to fit the output schema, as that of a call has.
func TestSettledResultsMustFitTheOutputSchema(t *testing.T) {
	type receipt struct {
		N  int       `json:"n"`
		At time.Time `json:"at,omitzero"`
	}
	for name, tc := range map[string]struct {
		said sdk.Settlement
		fits bool
	}{
		"its type":  {sdk.Happened(receipt{N: 1, At: time.Unix(0, 0)}), true},
		"no result": {sdk.Happened(nil), true},
		"no JSON":   {sdk.Happened(func() {}), false},
		"text":      {sdk.Happened("paid"), false},
		"a list":    {sdk.Happened([]int{1}), false},
		"a format":  {sdk.Happened(map[string]any{"n": 1, "at": "2024-05-19T12:00:00"}), false},
		"a type":    {sdk.Happened(map[string]any{"n": "one"}), false},
	} {
		plugin := sdk.Plugin{Name: "p", Version: "1", Tools: []sdk.Tool{sdk.Settle(
			sdk.Func(sdk.Spec{Name: "pay", Description: "x"}, func(context.Context, struct{}) (receipt, error) { return receipt{}, nil }),
			func(context.Context, struct{}) (sdk.Settlement, error) { return tc.said, nil },
		)}}
		for _, start := range []func(testing.TB, sdk.Plugin) *sdktest.Host{sdktest.New, sdktest.NewOverWire} {
			got := record(t, func(tb testing.TB) {
				if s, err := start(tb, plugin).Settle("pay", "{}"); err != nil || s.Verdict != sdk.VerdictHappened {
					tb.Errorf("settled %+v, %v", s, err)
				}
			})
			if fits := got == ""; fits != tc.fits || !fits && !strings.Contains(got, "does not fit its output schema") {
				t.Errorf("%s: reported %q", name, got)
			}
		}
	}
}
