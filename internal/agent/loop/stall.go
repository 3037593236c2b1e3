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

// stall are what a run does again and again without getting anywhere. The zero value is a run that has none.
type stall struct {
	timeouts     map[string]int          // in a row, by tool
	seen         orderedSet[Fingerprint] // of results and what they answer
	since        uint64                  // the place of the event from which on seen has them
	repeats      int                     // results in a row that were seen before
	withoutCalls int                     // responses in a row without a call, where the run has to say that it is done

	malformed int // responses in a row of whose calls none has arguments that are JSON
}

// fingerprint is half of a SHA-256: enough for what is only compared with what the same run has had.
type Fingerprint [sha256.Size / 2]byte

func FingerprintOf(data []byte) Fingerprint {
	sum := sha256.Sum256(data)
	return Fingerprint(sum[:sha256.Size/2])
}

// stuck is a run that pauses because it gets nowhere.
type pause struct {
	stop    StopReason // with which it ends if nobody wants it to go on
	message string
}

// idleRounds is how many responses without a call the model may give before the run pauses: it was reminded after each.
const idleRounds = 3

const reminder = "You made no tool call. If the task is done, say so with attempt_completion; if not, go on with it; " +
	"if you need something from the user, ask for it."

// observe notes what a result says about the run's stall.
func (h *stall) observe(c *callState) {
	if h.timeouts == nil {
		h.timeouts = make(map[string]int)
	}
	switch failure := c.result.Failure; {
	case failure != nil && failure.Kind == tool.KindTimeout:
		// A call that only waited, for its turn or for a process, says nothing of its tool.
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

// saysTimedOut reports whether a tool says that it ran out of time by a limit of its own, as shell does: the result is an error, and
// has a JSON object whose timed_out is true.
func saysTimedOut(r *tool.Result) bool {
	return r.IsError && slices.ContainsFunc(r.Content, func(c tool.Content) bool {
		var said struct {
			TimedOut bool `json:"timed_out"`
		}
		return c.Kind == tool.ContentJSON && json.Unmarshal(c.JSON, &said) == nil && said.TimedOut
	})
}

// garbled reports whether no call of a batch has arguments that are JSON.
func allMalformed(batch []callState) bool {
	for i := range batch {
		if text := strings.TrimSpace(batch[i].Arguments); text == "" || json.Valid([]byte(text)) || batch[i].refusal != "" {
			return false
		}
	}
	return len(batch) > 0
}

// judgeStall ends or pauses a run that gets nowhere.
func (s judge) judgeStall() {
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

// remind tells a model that made no call what it can do, and pauses the run when that has not helped.
func (s judge) remind() {
	s.stall.withoutCalls++
	if len(s.unread) > 0 {
		return // the user has said more meanwhile
	}
	s.pushUser(textBlock(reminder))
	if s.stall.withoutCalls%idleRounds == 0 {
		s.paused = &pause{StopNoToolCalls, fmt.Sprintf("the model gave %d responses without a tool call and did not say that it is done", s.stall.withoutCalls)}
	}
}

// unstick lets a run that paused go on.
func (s judge) resume() {
	s.paused = nil
	s.stall.withoutCalls, s.stall.repeats, s.stall.malformed = 0, 0, 0
	clear(s.stall.timeouts)
	s.withdraw("")
}

// maxMalformed is how many malformed answers the model may give in a row, be it that no response can be read in them or that no
// call of the response has arguments that are JSON: what makes no sense three times will not make sense the next time.
const MaxMalformed = 3
