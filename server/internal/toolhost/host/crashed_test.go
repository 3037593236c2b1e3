package host_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// lingering is a process that has lost its connection, and that exits only when the test lets it,
// whoever stops it.
type lingering struct {
	*hosttest.Process
	gone chan struct{}
}

func (p lingering) Done() <-chan struct{}      { return p.gone }
func (p lingering) Stop(context.Context) error { <-p.gone; return nil }

// A call ends at its deadline even if its instance lost its connection before and takes longer to
// exit.
func TestDeadlineOfACallWhoseProcessLingers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, gone := make(chan struct{}), make(chan struct{})
		r := newRig(t, []hosttest.Tool{stubborn(release)}, nil)
		r.launch = func(ctx context.Context, _ *catalog.Plugin, _ string) (host.Process, error) {
			p, err := r.start(ctx, hosttest.NewPlugin([]hosttest.Tool{stubborn(release)}))
			if err != nil {
				return nil, err
			}
			return lingering{p.(*hosttest.Process), gone}, nil
		}
		c := call("stubborn", "{}")
		c.Timeout = 2 * time.Second
		began := time.Now()
		e, err := r.Open(t.Context(), c, true)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		for at := false; !at; { // it is
			ev, err := e.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			at = ev.Status != nil
		}
		r.process(0).Wire.Close()
		defer func() { // before the rig closes
			close(gone)
			close(release)
			r.process(0).End(tool.Exit{})
		}()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		ev, err := e.Next(ctx)
		if err != nil {
			t.Fatalf("the call did not end: %v", err)
		}
		if ev.Ended == nil || ev.Ended.Err == nil || ev.Ended.Err.Kind != tool.KindTimeout {
			t.Errorf("the call ended with %+v, want a timeout", ev.Ended)
		}
		if took := time.Since(began); took != c.Timeout {
			t.Errorf("it ended after %v, want its deadline, %v", took, c.Timeout)
		}
	})
}
