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

// A call that ended before its arguments were complete executed nothing. Its id can be used again,
// also if the rest of the arguments arrived after the end.
func TestFailedPreviewLeavesItsID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, hosttest.Tools(), nil)
		r.launch = func(context.Context, *catalog.Plugin, string) (host.Process, error) {
			return nil, errors.New("not today")
		}
		c := call("preview", `{"text":`)
		c.ID = "once"
		e, err := r.Open(t.Context(), c, false)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if got := end(t, e); got.Err == nil || got.Err.Kind != tool.KindUnavailable {
			t.Fatalf("without an instance the preview ended with %+v", got)
		}
		if err := e.Send(t.Context(), []byte(`"x"}`), true); err != nil {
			t.Fatal(err)
		}
		r.launch = nil
		c.Arguments = []byte(`{"text":"x"}`)
		if got := outcome(t, r, c); got.Err != nil || got.Replayed || got.Result.Text() != "x" {
			t.Errorf("the id, used again, gave %+v", got)
		}
	})
}

// The error says how long the caller had for the arguments.
func TestPreviewThatNeverCompletes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, hosttest.Tools(), func(cfg *host.Config) { cfg.MaxTimeout = 2 * time.Minute })
		e, err := r.Open(t.Context(), call("preview", `{"te`), false)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		got := end(t, e)
		if got.Err == nil || got.Err.Kind != tool.KindTimeout || !strings.Contains(got.Err.Message, "2m0s") {
			t.Errorf("the call ended with %+v", got.Err)
		}
	})
}
