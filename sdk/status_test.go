package sdk_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/sdktest"
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
			func(ctx context.Context) error { report(ctx, sdk.Status{Tip: "a"}, sdk.Status{Tip: "b"}); return nil },
			[]sdk.Status{{State: sdk.StatusDoing, Tip: "a"}, {Tip: "b"}, {State: sdk.StatusSuccess}},
		},
		"also around progress, and for an error": {
			func(ctx context.Context) error { sdk.ReportProgress(ctx, 1, 2, "half"); return errors.New("no") },
			[]sdk.Status{{State: sdk.StatusDoing, Progress: &sdk.Progress{Done: 1, Total: 2, Message: "half"}}, {State: sdk.StatusError}},
		},
		"a terminal state of the tool is the last": {
			func(ctx context.Context) error {
				report(ctx, sdk.Status{State: sdk.StatusError, Tip: "a"}, sdk.Status{Tip: "late"})
				return nil
			},
			[]sdk.Status{{State: sdk.StatusError, Tip: "a"}},
		},
		"a state never goes back": {
			func(ctx context.Context) error {
				report(ctx, sdk.Status{State: sdk.StatusDoing}, sdk.Status{State: sdk.StatusWait, Tip: "a"})
				return nil
			},
			[]sdk.Status{{State: sdk.StatusDoing}, {Tip: "a"}, {State: sdk.StatusSuccess}},
		},
		"a panic is an error": {
			func(ctx context.Context) error { report(ctx, sdk.Status{Tip: "a"}); panic("x") },
			[]sdk.Status{{State: sdk.StatusDoing, Tip: "a"}, {State: sdk.StatusError}},
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

func TestNothingIsReportedAfterTheEnd(t *testing.T) {
	var kept context.Context
	h := sdktest.New(t, pluginOf(func(ctx context.Context, _ struct{}) (string, error) {
		kept = ctx
		sdk.ReportStatus(ctx, sdk.Status{Tip: "a"})
		return "", nil
	}))
	s := h.Stream("x")
	s.Complete(nil)
	before := len(s.Wait().Statuses)
	late := context.WithoutCancel(kept)
	sdk.ReportStatus(late, sdk.Status{Tip: "late"})
	sdk.Logger(late).Info("late")
	if got := s.Wait(); len(got.Statuses) != before || len(got.Logs) != 0 {
		t.Errorf("reports after the end were sent: %+v %+v", got.Statuses, got.Logs)
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
