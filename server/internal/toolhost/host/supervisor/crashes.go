package supervisor

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/tool"
)

const (
	// crashWindow is how long a call that was executed during a crash is remembered.
	crashWindow = 10 * time.Minute
	// maxCounted bounds how many calls of a plugin are remembered.
	maxCounted = 64
	// maxCrashes is how many processes one call may crash before it is refused.
	maxCrashes = 3
	// maxExitCalls bounds how many of the calls that were executed during a crash are named.
	maxExitCalls = 8
)

// crashCounts counts the crashes of a plugin by the calls that were executed during them. A call is
// identified by its tool and arguments, not by its id. The mutex of the supervisor guards it.
//
// A plugin that crashes repeatedly is quarantined, which makes all of its tools unavailable. If one
// call causes the crashes, the other calls must not suffer. So repeated crashes of the same call
// count once for the quarantine. A call that has crashed three processes is refused for a while. If
// several calls were executed during a crash, the crash counts for each in equal parts. A call that
// succeeds is removed from the counts.
type crashCounts map[[sha256.Size]byte]*crashCount

type crashCount struct {
	tool     string
	crashes  float64 // a part of each crash for each of the calls that were executed together
	last     time.Time
	reported bool // operators know that the call is refused
}

// refused reports whether the call has crashed so many processes that it is not executed.
func (c *crashCount) refused() bool { return c.crashes >= maxCrashes-0.01 } // the sum of parts is not exact

// until returns when the call is forgotten.
func (c *crashCount) until() time.Time { return c.last.Add(crashWindow) }

// reason says to operators why the call is refused.
func (c *crashCount) reason() string {
	return fmt.Sprintf("calls of %q with the same arguments are refused until %s, because they ended its process %d times",
		c.tool, c.until().Format("15:04:05"), maxCrashes)
}

// add counts a crash during which some calls were executed. It reports whether one of them was also
// executed during an earlier crash, which the quarantine has counted already.
func (c *crashCounts) add(executed []*Lease, now time.Time) (again bool) {
	c.expire(now)
	if *c == nil {
		*c = crashCounts{}
	}
	for _, l := range executed {
		sum := l.request.State.Sum()
		found := (*c)[sum]
		if found == nil && len(*c) == maxCounted {
			continue
		}
		if found == nil {
			found = &crashCount{tool: l.request.Call.Tool}
			(*c)[sum] = found
		} else {
			again = true
		}
		found.crashes += 1 / float64(len(executed))
		found.last = now
	}
	return again
}

// refusal returns why a call is not executed, or nil.
func (c *crashCounts) refusal(r *Request, plugin string, now time.Time) *tool.Error {
	c.expire(now)
	found := (*c)[r.State.Sum()]
	if found == nil || !found.refused() {
		return nil
	}
	e := tool.Errorf(tool.KindUnavailable,
		"calls of %q with these arguments have ended the process of the plugin %q %d times; nothing was executed; call it with other arguments, or try again in %v; an operator lifts this with `toolhost clear %s`",
		r.Call.Tool, plugin, maxCrashes, found.until().Sub(now).Round(time.Second), plugin)
	e.RetryAfter = found.until().Sub(now)
	return e
}

// newlyRefused returns the calls that are refused and were not returned before, the first refused
// first.
func (c *crashCounts) newlyRefused() []crashCount {
	var all []crashCount
	for _, found := range *c {
		if found.refused() && !found.reported {
			found.reported = true
			all = append(all, *found)
		}
	}
	slices.SortFunc(all, func(a, b crashCount) int { return a.last.Compare(b.last) })
	return all
}

// refusedNow returns the refused call that is remembered longest; nil if no call is refused.
func (c *crashCounts) refusedNow(now time.Time) *crashCount {
	c.expire(now)
	var last *crashCount
	for _, found := range *c {
		if found.refused() && (last == nil || found.last.After(last.last)) {
			last = found
		}
	}
	return last
}

// reportRefusals adds an event for each call that is refused from now on.
func (s *Supervisor) reportRefusals() {
	s.mu.Lock()
	refused := s.crashes.newlyRefused()
	s.mu.Unlock()
	for _, c := range refused {
		s.reporter.report(lifecycle.Event{Time: c.last, Type: lifecycle.EventCallsRefused, Reason: c.reason(), Until: c.until()}, By{})
	}
}

// clear removes a call that has succeeded from the counts.
func (c *crashCounts) clear(r *Request) {
	if sum := r.State.Sum(); (*c)[sum] != nil && r.State.Succeeded() {
		delete(*c, sum)
	}
}

func (c *crashCounts) expire(now time.Time) {
	for sum, found := range *c {
		if now.Sub(found.last) >= crashWindow {
			delete(*c, sum)
		}
	}
}

// whileExecuting returns the end of a message about a crash, which names the executed calls. It is
// empty if there were none.
func whileExecuting(calls []tool.ExitCall) string {
	if len(calls) == 0 {
		return ""
	}
	var named []string
	for _, c := range calls {
		named = append(named, c.Tool+" (call "+c.CallID+")")
	}
	return "; it was executing " + strings.Join(named, ", ")
}
