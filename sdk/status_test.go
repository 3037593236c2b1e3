package sdk_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/internal/transport"
	"github.com/toolhost/toolhost/sdk/sdktest"
	"github.com/toolhost/toolhost/tool"
)

func TestStatuses(t *testing.T) {
	report := func(ctx context.Context, statuses ...sdk.Status) {
		for _, s := range statuses {
			sdk.ReportStatus(ctx, s)
		}
	}
	tests := map[string]struct {
		run  func(ctx context.Context) error
		want []sdk.Status
	}{
		"a tool that reports nothing shows nothing": {func(context.Context) error { return nil }, nil},
		"nor where it fails":                        {func(context.Context) error { return errors.New("no") }, nil},
		"the frame is added": {
			func(ctx context.Context) error {
				report(ctx, sdk.Status{Message: "a"}, sdk.Status{Message: "b"})
				return nil
			},
			[]sdk.Status{{State: sdk.StatusDoing, Message: "a"}, {Message: "b"}, {State: sdk.StatusSuccess}},
		},
		"also around progress, and for an error": {
			func(ctx context.Context) error { sdk.ReportProgress(ctx, 1, 2, "half"); return errors.New("no") },
			[]sdk.Status{{State: sdk.StatusDoing, Progress: &sdk.Progress{Done: 1, Total: 2, Message: "half"}}, {State: sdk.StatusError}},
		},
		"a terminal state of the tool is the last": {
			func(ctx context.Context) error {
				report(ctx, sdk.Status{State: sdk.StatusError, Message: "a"}, sdk.Status{Message: "late"})
				return nil
			},
			[]sdk.Status{{State: sdk.StatusError, Message: "a"}},
		},
		"a state never goes back": {
			func(ctx context.Context) error {
				report(ctx, sdk.Status{State: sdk.StatusDoing}, sdk.Status{State: sdk.StatusWait, Message: "a"})
				return nil
			},
			[]sdk.Status{{State: sdk.StatusDoing}, {Message: "a"}, {State: sdk.StatusSuccess}},
		},
		"a panic is an error": {
			func(ctx context.Context) error { report(ctx, sdk.Status{Message: "a"}); panic("x") },
			[]sdk.Status{{State: sdk.StatusDoing, Message: "a"}, {State: sdk.StatusError}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := sdktest.New(t, pluginOf(func(ctx context.Context, _ struct{}) (string, error) { return "", tt.run(ctx) }))
			got := h.Call("x", nil)
			if diff := cmp.Diff(tt.want, got.Statuses); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// countingCall counts events.
type countingCall struct {
	benchCall
	sent *atomic.Int32
}

func (c countingCall) Send(context.Context, tool.Event) error {
	c.sent.Add(1)
	return nil
}

func TestNothingIsReportedAfterTheEnd(t *testing.T) {
	var kept context.Context
	server, err := transport.NewHandler(pluginOf(func(ctx context.Context, _ struct{}) (string, error) {
		kept = ctx
		sdk.Logger(ctx).Info("in time")
		return "text\xff", nil
	}), nil)
	if err != nil {
		t.Fatal(err)
	}
	var sent atomic.Int32
	result, err := server.Call(t.Context(), transport.Info{Tool: "x"}, countingCall{benchCall("{}"), &sent})
	if err != nil {
		t.Fatal(err)
	}
	sdk.ReportStatus(kept, sdk.Status{Message: "late"})
	sdk.Logger(kept).Info("late: this line belongs on standard error")
	if got := sent.Load(); got != 1 {
		t.Errorf("%d events were sent, want the one before the end", got)
	}
	if got := result.Text(); got != "text\uFFFD" {
		t.Errorf("the text is %q, want it to be UTF-8 before it is sent", got)
	}
}

func TestReportsFromManyGoroutines(t *testing.T) {
	h := sdktest.New(t, pluginOf(func(ctx context.Context, _ struct{}) (string, error) {
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				sdk.ReportProgress(ctx, 1, 0, "")
				sdk.Logger(ctx).Info("x", "k", "v")
			})
		}
		all.Wait()
		return "", nil
	}))
	got := h.Call("x", nil)
	if len(got.Statuses) != 21 || len(got.Logs) != 20 {
		t.Fatalf("%d statuses and %d logs, want 21 and 20", len(got.Statuses), len(got.Logs))
	}
	if first, last := got.Statuses[0].State, got.Statuses[20].State; first != sdk.StatusDoing || last != sdk.StatusSuccess {
		t.Errorf("from %s to %s", first, last)
	}
}
