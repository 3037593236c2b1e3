package loop

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/tool"
)

// stall counts the signs that a run makes no progress. The zero value is a run without such signs.
type stall struct {
	timeouts map[string]int          // in a row, by tool
	seen     orderedSet[Fingerprint] // of results with their calls
	since    uint64                  // seen has the results since this event
	repeats  int                     // results in a row that seen already had
	// responses in a row without a call, if completion is explicit
	withoutCalls int

	malformed int // responses in a row whose calls all have malformed arguments
	asText    int // responses in a row that are a call as text
}

// Fingerprint is half of a SHA-256 digest. That suffices, because it is compared only within one
// run.
type Fingerprint [sha256.Size / 2]byte

func FingerprintOf(data []byte) Fingerprint {
	sum := sha256.Sum256(data)
	return Fingerprint(sum[:sha256.Size/2])
}

// pause says why a run pauses.
type pause struct {
	stop    StopReason // the stop reason if no person continues the run
	message string
}

// idleRounds is the number of responses without a call after which the run pauses. The model gets a
// reminder after each.
const idleRounds = 3

const reminder = "You made no tool call. If the task is done, say so with attempt_completion; if not, go on with it; " +
	"if you need something from the user, ask for it."

// observe records what a result says about the run's progress.
func (h *stall) observe(c *callState) {
	if h.timeouts == nil {
		h.timeouts = make(map[string]int)
	}
	switch failure := c.result.Failure; {
	case failure != nil && failure.Kind == tool.KindTimeout:
		// If a call timed out while it waited for its turn or for a process, the timeout is no sign
		// of a problem with the tool.
		if cmp.Or(c.result.Instance, failure.Instance) != "" {
			h.timeouts[c.Tool]++
		}
	case saysTimedOut(&c.result.Result):
		h.timeouts[c.Tool]++
	case !c.result.Result.IsError:
		delete(h.timeouts, c.Tool)
	}
	text := c.result.Result.Text()
	key := FingerprintOf(fmt.Appendf(nil, "%d:%s%d:%s%s", len(c.Tool), c.Tool, len(c.Arguments), c.Arguments, text))
	if h.seen.has(key) {
		h.repeats++
		return
	}
	h.seen.add(key)
	h.repeats = 0
}

// saysTimedOut reports whether a result says that the tool's own time limit ended the call, as that
// of shell does: the result is an error and has a JSON object whose timed_out is true.
func saysTimedOut(r *tool.Result) bool {
	return r.IsError && slices.ContainsFunc(r.Content, func(c tool.Content) bool {
		var said struct {
			TimedOut bool `json:"timed_out"`
		}
		return c.Kind == tool.ContentJSON && json.Unmarshal(c.JSON, &said) == nil && said.TimedOut
	})
}

// allMalformed reports whether no call of a batch has arguments that are JSON.
func allMalformed(batch []callState) bool {
	for i := range batch {
		if text := strings.TrimSpace(batch[i].Arguments); text == "" || json.Valid([]byte(text)) || batch[i].refusal != "" {
			return false
		}
	}
	return len(batch) > 0
}

// judgeStall ends or pauses a run that makes no progress.
func (s *State) judgeStall() {
	limits := &s.started.Limits
	if s.stall.malformed >= MaxMalformed {
		s.stop = StopModelError
		s.stopMessage = fmt.Sprintf("the arguments of the model's calls were no JSON in %d responses in a row", s.stall.malformed)
		return
	}
	if limits.MaxRepeats > 0 && s.stall.repeats >= limits.MaxRepeats {
		s.stop = StopRepetition
		s.stopMessage = fmt.Sprintf("the last %d results were such as the run has had before, for the same calls", s.stall.repeats)
		return
	}
	if limits.MaxTimeouts <= 0 {
		return
	}
	first := ""
	for name, n := range s.stall.timeouts {
		if n >= limits.MaxTimeouts && (first == "" || name < first) {
			first = name
		}
	}
	if first != "" {
		s.paused = &pause{StopTimeouts, fmt.Sprintf("the tool %s timed out %d times in a row", first, s.stall.timeouts[first])}
	}
}

// remind adds a message for a model that made no call, which says what the model can do. It pauses
// the run if earlier reminders did not help.
func (s *State) remind() {
	s.stall.withoutCalls++
	if len(s.conversation.unread) > 0 {
		return // a new user message continues the run
	}
	s.conversation.pushUser(textBlock(reminder))
	if s.stall.withoutCalls%idleRounds == 0 {
		s.paused = &pause{StopNoToolCalls, fmt.Sprintf("the model gave %d responses without a tool call and did not say that it is done", s.stall.withoutCalls)}
	}
}

// resume continues a paused run.
func (s *State) resume() {
	s.paused = nil
	s.stall.withoutCalls, s.stall.repeats, s.stall.malformed = 0, 0, 0
	clear(s.stall.timeouts)
	s.people.withdraw("")
}

// MaxMalformed is the number of malformed responses in a row after which a run gives up. A response
// is malformed if it cannot be parsed, or if no call in it has JSON arguments. A model that fails
// three times will fail again.
const MaxMalformed = 3
