package postgres

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// The monitor asks a database that nothing uses, tells when it goes and when it returns, and fills
// no log with one that comes and goes.
func TestMonitor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		var down atomic.Bool
		var asked atomic.Int64
		m := newMonitor("postgres://db/runs", slog.New(slog.NewTextHandler(&out, nil)), func(context.Context) error {
			asked.Add(1)
			if down.Load() {
				return fmt.Errorf("%w: connection refused", ErrUnavailable)
			}
			return nil
		})
		defer m.close()
		lines := func(want ...string) {
			t.Helper()
			synctest.Wait()
			got := strings.Split(strings.TrimSpace(out.String()), "\n")
			out.Reset()
			if len(want) == 0 && got[0] == "" {
				return
			}
			if len(got) != len(want) {
				t.Fatalf("the log has %q, want %q", got, want)
			}
			for i := range want {
				if !strings.Contains(got[i], want[i]) {
					t.Errorf("the log has %q, want %q", got[i], want[i])
				}
			}
		}
		time.Sleep(time.Minute + time.Millisecond) // the test acts between two questions of the monitor
		lines()
		if n := asked.Load(); n != int64(time.Minute/calm) {
			t.Errorf("asked %d times in a minute", n)
		}
		down.Store(true)
		time.Sleep(calm + time.Second)
		lines("the database is gone")
		if m.gone().IsZero() {
			t.Error("the monitor does not know that the database is gone")
		}
		down.Store(false)
		time.Sleep(attentive)
		lines("the database is back")
		for range 100 {
			m.saw(ErrUnavailable)
			m.saw(nil)
		}
		lines()
		m.saw(context.Canceled)
		if !m.gone().IsZero() {
			t.Error("a caller that left counts as a database that is gone")
		}
		time.Sleep(quiet + time.Millisecond) // as above: the last action has started the pause anew
		m.saw(ErrUnavailable)
		lines("the database is gone")
		m.saw(nil)
		lines("the database is back")
	})
}
