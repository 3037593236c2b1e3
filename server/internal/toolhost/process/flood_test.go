package process

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// timed is a slog.Handler that keeps records with their own times and the times of logging.
type timed struct {
	began time.Time

	mu     sync.Mutex
	logged []string
}

func (h *timed) Enabled(context.Context, slog.Level) bool { return true }
func (h *timed) WithAttrs([]slog.Attr) slog.Handler       { return h }
func (h *timed) WithGroup(string) slog.Handler            { return h }

func (h *timed) Handle(_ context.Context, r slog.Record) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	text := fmt.Sprintf("%v for %v: %s", time.Since(h.began), r.Time.Sub(h.began), r.Message)
	r.Attrs(func(a slog.Attr) bool { text += fmt.Sprintf(" %v", a); return true })
	h.logged = append(h.logged, text)
	return nil
}

// The number of dropped lines is logged within a second, with the time of the lines, even if no
// line follows.
func TestAFloodIsReportedSoon(t *testing.T) {
	const more = "the plugin printed more lines than are logged"
	for name, tc := range map[string]struct {
		story func(o *output)
		want  []string
	}{
		"and nothing follows": {func(*output) { time.Sleep(time.Hour) }, []string{
			"0s for 0s: line 0", "50ms for 0s: line 1", "1s for 100ms: " + more + " dropped=4",
		}},
		"and its process ends": {func(*output) { time.Sleep(500 * time.Millisecond) }, []string{
			"0s for 0s: line 0", "50ms for 0s: line 1", "600ms for 100ms: " + more + " dropped=4",
		}},
		"and a line follows": {func(o *output) {
			time.Sleep(700 * time.Millisecond)
			o.stderrLine("the next")
			time.Sleep(time.Hour)
		}, []string{
			"0s for 0s: line 0", "50ms for 0s: line 1", "800ms for 100ms: " + more + " dropped=4", "850ms for 800ms: the next",
		}},
		"and another comes": {func(o *output) {
			time.Sleep(time.Hour)
			for range 3 {
				o.stderrLine("again")
			}
			time.Sleep(time.Hour)
		}, []string{
			"0s for 0s: line 0", "50ms for 0s: line 1", "1s for 100ms: " + more + " dropped=4",
			"1h0m0.1s for 1h0m0.1s: again", "1h0m0.15s for 1h0m0.1s: again", "1h0m1.1s for 1h0m0.1s: " + more + " dropped=1",
		}},
		"and goes on": {func(o *output) { // the budget lets a line through every half second
			for range 20 {
				time.Sleep(100 * time.Millisecond)
				o.stderrLine("more")
			}
			time.Sleep(time.Hour)
		}, []string{
			"0s for 0s: line 0", "50ms for 0s: line 1", "500ms for 400ms: " + more + " dropped=7", "550ms for 500ms: more",
			"1.05s for 1s: more", "1.5s for 1.4s: " + more + " dropped=8", "1.55s for 1.5s: more", "2.05s for 2s: more",
			"3s for 2.1s: " + more + " dropped=5",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := &timed{began: time.Now()}
				o := newOutput(slog.New(log), 2, 8<<10)
				for i := range 5 {
					o.stderrLine(fmt.Sprintf("line %d", i))
				}
				synctest.Wait()
				time.Sleep(100 * time.Millisecond) // virtual
				o.stderrLine("the last")
				tc.story(o)
				o.close()
				if diff := cmp.Diff(tc.want, log.logged); diff != "" {
					t.Errorf("it says (-want +got):\n%s", diff)
				}
			})
		})
	}
}
