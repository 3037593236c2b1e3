package host

import (
	"crypto/sha256"
	"strings"
	"time"

	"github.com/toolhost/toolhost/tool"
)

const (
	// suspicionWindow is how long a call that was under way when its process crashed is remembered.
	suspicionWindow = 10 * time.Minute
	// maxSuspects bounds how many calls of a plugin are remembered.
	maxSuspects = 64
	// mostDeaths is how many processes one call may end until it is refused.
	mostDeaths = 3
)

// suspects are the calls that were under way when processes of a plugin crashed. A call is what its tool and its arguments
// say, whatever its id. The supervisor's lock guards them.
//
// A plugin that crashes again and again is quarantined, which takes all of its tools away. Where one call does it, the others
// must not pay: such a crash counts once, however often the call is repeated, and a call that has ended three processes is not
// given another one for a while. Of calls that were under way together, each has a share of the blame. A call that succeeds has
// none.
type suspects map[[sha256.Size]byte]*suspect

type suspect struct {
	deaths float64 // of processes: a part of each for each call that was under way
	last   time.Time
}

// blame notes that a process crashed while some calls were executed. It reports whether one of them did so before, so that
// the crash is known already.
func (s *suspects) blame(runs []*run, now time.Time) (known bool) {
	s.forget(now)
	if *s == nil {
		*s = suspects{}
	}
	for _, r := range runs {
		found := (*s)[r.entry.sum]
		if found == nil && len(*s) == maxSuspects {
			continue
		}
		if found == nil {
			found = &suspect{}
			(*s)[r.entry.sum] = found
		} else {
			known = true
		}
		found.deaths += 1 / float64(len(runs))
		found.last = now
	}
	return known
}

// refusal says why a call is not executed, nil if it may be.
func (s *suspects) refusal(r *run, now time.Time) *tool.Error {
	if len(*s) == 0 {
		return nil
	}
	s.forget(now)
	found := (*s)[r.entry.sum]
	const almost = mostDeaths - 0.01 // parts do not add up exactly
	if found == nil || found.deaths < almost {
		return nil
	}
	e := tool.Errorf(tool.KindUnavailable,
		"calls of %q with these arguments have ended the process of the plugin %q %d times; nothing was executed; call it with other arguments, or try again in %v",
		r.call.Tool, r.tool.Plugin.Info.Name, mostDeaths, found.last.Add(suspicionWindow).Sub(now).Round(time.Second))
	e.RetryAfter = found.last.Add(suspicionWindow).Sub(now)
	return e
}

// acquit forgets a call that has succeeded.
func (s *suspects) acquit(r *run) {
	if found := (*s)[r.entry.sum]; found == nil {
		return
	}
	if outcome, _ := r.record.outcome(); outcome != nil && outcome.Err == nil {
		delete(*s, r.entry.sum)
	}
}

func (s *suspects) forget(now time.Time) {
	for sum, found := range *s {
		if now.Sub(found.last) >= suspicionWindow {
			delete(*s, sum)
		}
	}
}

// maxExitCalls bounds how many of the calls under way are told of a crash.
const maxExitCalls = 8

// exitCalls returns the calls that were executed when a process ended.
func exitCalls(runs []*run) []tool.ExitCall {
	var calls []tool.ExitCall
	for _, r := range runs[:min(len(runs), maxExitCalls)] {
		calls = append(calls, tool.ExitCall{CallID: r.call.ID, Tool: r.call.Tool, Session: r.call.Session, Principal: r.call.Principal})
	}
	return calls
}

// whileExecuting says in words what was executed when a process ended.
func whileExecuting(calls []tool.ExitCall) string {
	if len(calls) == 0 {
		return ""
	}
	var words []string
	for _, c := range calls {
		words = append(words, c.Tool+" (call "+c.CallID+")")
	}
	return "; it was executing " + strings.Join(words, ", ")
}

// pardon forgets which calls crashes may be due to.
func (s *supervisor) pardon() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.suspects = nil
}
