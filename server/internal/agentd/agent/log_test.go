package agent_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// The log has one line, at the right level, for the run's start, each failed model request and the
// end. A run in the foreground is logged at debug level only.
func TestLogOfARunWhoseModelIsDown(t *testing.T) {
	for _, foreground := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			m := &fakeModel{answer: func(context.Context, model.Request) (*model.Response, error) {
				return nil, &model.Error{Message: "nobody listens at 192.0.2.7", Retryable: true}
			}}
			var out bytes.Buffer
			f := newFixture(t, m, newTools(echo), func(c *agent.Config) {
				c.Log = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelInfo}))
			})
			f.start(loop.Task{Foreground: foreground})
			f.end()
			f.Close()
			for words, want := range map[string]int{
				"level=INFO msg=\"run begun\" run=r":            1,
				"level=WARN msg=\"model is asked again\" run=r": 4,
				"level=ERROR msg=\"run ended\" run=r":           1,
				"192.0.2.7":                                     5,
			} {
				if foreground {
					want = 0
				}
				if n := strings.Count(out.String(), words); n != want {
					t.Errorf("foreground %v: %q is there %d times, want %d:\n%s", foreground, words, n, want, out.String())
				}
			}
		})
	}
}
