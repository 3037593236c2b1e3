package storetest

import (
	"errors"
	"fmt"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
)

// A family is two ids, of which the second one may supersede the first one. What a store does with
// one family does not depend on others, so a history is checked for each alone.
const (
	first  = 0
	second = 1
)

// The phases of an id in a ledger. A call that has begun at a node that is gone is unknown.
type phase string

const (
	absent phase = "absent"
	begun  phase = "begun"
	ended  phase = "ended"
	failed phase = "failed" // with outcome_unknown, also as superseded
	free   phase = "free"
)

// errGone stands for Cluster.Gone.
var errGone = errors.New("the node is gone")

// unknown is what Find says of a call that has begun at a node that is gone.
const unknown phase = "unknown"

// line is what a ledger that executes one operation after the other has of an id.
type line struct {
	phase   phase
	node    int    // that has begun the call
	tag     string // of the Begin; the store keeps it as the name of the plugin
	says    string // the text of the outcome
	asked   bool   // it has arguments, so its tool can be asked
	held    bool   // its node knows that it has begun it, and may end it
	closed  bool   // another call supersedes it, so that its node cannot take it back
	doubled bool   // the tool has said that an earlier execution did not happen
}

// ledger is a whole ledger, for the ids of one family. It is comparable.
type ledger struct {
	gone  uint64 // a bit for each node that is proven to be gone
	calls [2]line
}

func newLedger() ledger { return ledger{calls: [2]line{{phase: absent}, {phase: absent}}} }

func (l *ledger) isGone(node int) bool { return l.gone>>node&1 == 1 }

// The operations of a history.
type act string

const (
	beginning  act = "begin"
	replacing  act = "begin and supersede"
	undoing    act = "undo a begin" // by the store, after a Begin that failed
	ending     act = "end"
	losing     act = "end without knowing how"
	forgetting act = "forget"
	freeing    act = "did not happen"
	happening  act = "happened"
	finding    act = "find"
	leaving    act = "is gone"
)

// step is an operation with its arguments.
type step struct {
	act   act
	node  int
	which int    // first or second
	tag   string // of the Begin that it is or that it is about
	says  string // the text of an outcome
}

// result is what an operation has answered. One whose answer is not known has none.
type result struct {
	known bool
	err   error // one of the errors that apply returns
	found sight // of finding
}

// sight is what Find returns of an id.
type sight struct {
	phase     phase
	elsewhere bool
	tag, says string
}

// look returns what Find sees at a node.
func (l *ledger) look(s *step) sight {
	c := &l.calls[s.which]
	seen := sight{phase: c.phase, tag: c.tag, says: c.says}
	switch {
	case c.phase == absent:
		return sight{phase: absent}
	case c.phase != begun:
	case l.isGone(c.node):
		seen.phase = unknown
	default:
		seen.elsewhere = c.node != s.node
	}
	return seen
}

// apply executes a step, and returns the ledger afterwards and the error of the step: that is what
// the documentation of callstore.Writer says.
func (l ledger) apply(s *step, known bool) (ledger, error) {
	c := &l.calls[s.which]
	switch s.act {
	case leaving:
		l.gone |= 1 << s.node
	case undoing:
		if c.phase == begun && c.tag == s.tag && !c.closed {
			*c = line{phase: absent}
		}
	case beginning, replacing:
		return l.begin(s, known)
	case ending, losing:
		if c.phase != begun || c.node != s.node || !c.held {
			return l, callstore.ErrNotBegun
		}
		c.phase, c.says, c.held = ended, s.says, false
		if s.act == losing {
			c.phase = failed
		} else {
			c.asked = false
		}
	case forgetting:
		switch {
		case c.phase == absent:
		case c.phase == begun && c.node == s.node && c.held && !c.closed:
			*c = line{phase: absent}
		default:
			c.held = c.held && c.node != s.node
			return l, callstore.ErrNotBegun
		}
	case freeing, happening:
		if c.tag != s.tag || !c.asked || c.phase != failed && !(c.phase == begun && l.isGone(c.node)) {
			return l, callstore.ErrNotUnknown
		}
		if s.act == freeing {
			c.phase, c.says, c.doubled = free, "", true
		} else {
			c.phase, c.says, c.asked = ended, s.says, false
		}
	}
	return l, nil
}

// begin executes a Begin: of all Begins of an id, one succeeds until the call is proven not to have
// happened.
func (l ledger) begin(s *step, known bool) (ledger, error) {
	before := l
	c := &l.calls[s.which]
	switch {
	case l.isGone(s.node):
		return before, errGone
	case c.phase != absent && c.phase != free:
		return before, callstore.ErrTaken
	}
	if s.act == replacing && !l.close(s) {
		return before, callstore.ErrSuperseding
	}
	*c = line{phase: begun, node: s.node, tag: s.tag, asked: true, held: known, doubled: c.doubled}
	return l, nil
}

// close closes the first call of the family for one that supersedes it, if it may.
func (l *ledger) close(s *step) bool {
	c := &l.calls[first]
	switch {
	case c.phase == ended:
		return false
	case c.phase == absent:
		*c = line{phase: failed, tag: s.tag, says: closing(s.says)}
	case c.phase == free, c.phase == begun && c.node == s.node && !c.held:
		*c = line{phase: failed, tag: c.tag, says: closing(s.says)}
	case c.phase == begun && c.node == s.node:
		return false
	case c.phase == begun && c.doubled && !l.isGone(c.node):
		return false
	default:
		c.asked, c.closed = false, true
	}
	return true
}

// closing returns what the outcome of a call says that the call with an id supersedes.
func closing(by string) string {
	end := callstore.Closing(by)
	var e callstore.Entry
	if err := e.Decode(end.Stands, end.Short, false, nil); err != nil {
		panic(err) // cannot happen: it is encoded just now
	}
	return e.Err.Message
}

// admits returns the ledgers that there can be after a step with an answer; none: no ledger gives
// this answer. A step whose answer is not known may have happened, or may never happen: it then
// ends after all others.
//
// A call may be settled although the answer is that it cannot be: the answer to the attempt that
// has settled it was lost, and the call has begun again or was superseded before the next attempt.
// It may also not be settled although it could be: a Begin that was attempted again has given the
// call another number since it was found.
func (l ledger) admits(s *step, r *result) []ledger {
	if s.act == finding {
		if l.look(s) != r.found {
			return nil
		}
		return []ledger{l}
	}
	after, err := l.apply(s, r.known)
	if r.known && err != r.err {
		if r.err == callstore.ErrNotUnknown {
			return []ledger{l, after}
		}
		// A node may have a call for a moment whose Begin has failed. That says nothing about the other
		// call of the family, nor of later.
		doubted, which := l, s.which
		if s.act == replacing {
			which = first
		}
		doubted.calls[which].held = true
		if after, err = doubted.apply(s, true); err != nil {
			after = l
		}
	}
	if r.known && err != r.err {
		return nil
	}
	return []ledger{after}
}

func (s *step) String() string {
	return fmt.Sprintf("node %d, id %d: %s %s %.60q", s.node, s.which, s.act, s.tag, s.says)
}

func (r *result) String() string {
	switch {
	case !r.known:
		return "no answer"
	case r.err != nil:
		return r.err.Error()
	case r.found.phase != "":
		return fmt.Sprintf("%+v", r.found)
	}
	return "done"
}
