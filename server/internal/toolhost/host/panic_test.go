package host_test

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// buggy panics in one step of a call.
type buggy struct {
	*recorder
	step string
}

func (b *buggy) at(step string) {
	if b.step == step {
		panic("a bug in " + step)
	}
}

func (b *buggy) CallBegan(call *tool.Call, kind host.CallKind, _ time.Time) host.Span {
	return &buggySpan{recordedSpan{recorder: b.recorder}, b}
}

func (b *buggy) CallDecided(audit.Outcome, string) { b.at("the decision") }
func (b *buggy) CallEnded(*host.CallEnd)           { b.at("the end") }

type buggySpan struct {
	recordedSpan
	of *buggy
}

func (s *buggySpan) Event(name string, _ ...slog.Attr) { s.of.at(name) }

// A panic on the goroutine of a call is a bug of toolhost. It ends this call, with an outcome that
// says what may have happened, and no other.
func TestAPanicEndsOnlyItsCall(t *testing.T) {
	changes := hosttest.Tool{Spec: tool.Spec{Name: "change", Description: "Has effects."}, Run: echoLog}
	reads := hosttest.Tool{Spec: tool.Spec{Name: "read", Description: "Has none.", ReadOnly: true}, Run: echoLog}
	for _, c := range []struct {
		step, tool string
		want       tool.Kind
	}{
		{"the decision", "change", tool.KindInternal},
		{"attempt", "change", tool.KindOutcomeUnknown},
		{"attempt", "read", tool.KindInternal},
		{"the end", "change", tool.KindInternal},
	} {
		t.Run(c.step+" of "+c.tool, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &buggy{recorder: &recorder{}, step: c.step}
				r := newRig(t, []hosttest.Tool{changes, reads}, func(cfg *host.Config) { cfg.Observer = b })
				if got := outcome(t, r, call(c.tool, "{}")); tool.KindOf(got.Err) != c.want {
					t.Errorf("ended with %+v, want the kind %s", got, c.want)
				}
				b.step = ""
				if got := outcome(t, r, call(c.tool, "{}")); got.Err != nil {
					t.Errorf("the next call: %v", got.Err)
				}
			})
		})
	}
}
