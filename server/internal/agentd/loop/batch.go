package loop

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/toolhost/toolhost/tool"
)

// Batch is the calls of the last response, from the response until every call has a result.
type Batch struct {
	list    []callState
	pending int               // calls in list without a result
	serial  bool              // whether a call in list must run alone
	before  tool.UsageContext // what the run had used before the response; zero without calls
}

type callState struct {
	Call                   // with the arguments that are sent
	providerID string      // pairs the result with the call in the conversation
	name       string      // the tool's name in the conversation
	started    bool        // it was sent; it may wait for a decision again
	waiting    bool        // for a decision
	edited     bool        // a person changed the arguments
	final      string      // the final arguments that a person saw and approved; empty: none
	held       *CallResult // its result, unless a person decides otherwise
	refusal    string      // why the call is not made; empty: it is made
	settled    *CallResult // its result, not recorded yet
	result     *CallResult
	dropped    []string // why some of its effects were refused
	waitsFor   []string // the decisions that its sub-run waits for; see SubRunWaiting

	standing *standingRequest // that the call waits for; nil: none

	replies map[uint32]tool.Answer // to the questions of its tool; replaced, not changed
}

// running reports whether the driver has to carry the call out now.
func (c *callState) running() bool {
	return c.started && !c.waiting && c.result == nil && c.settled == nil && c.refusal == ""
}

// clear removes the calls, which all have results.
func (b *Batch) clear() { b.list, b.before = nil, tool.UsageContext{} }

// Size returns the number of calls in the last response while some of them have no result.
func (b *Batch) Size() int { return len(b.list) }

// Call returns the call of the last response with an id, or nil. The pointer is valid until the
// next event.
func (b *Batch) Call(callID string) *Call {
	if c := b.find(callID); c != nil {
		return &c.Call
	}
	return nil
}

// Answers returns the number of calls of the last response if the results of all of them go
// directly to the user. It returns 0 if a result goes to the model.
func (b *Batch) Answers() int {
	for i := range b.list {
		if !b.list[i].ReturnDirect {
			return 0
		}
	}
	return len(b.list)
}

// find returns the call with an id, or nil.
func (b *Batch) find(callID string) *callState {
	for i := range b.list {
		if b.list[i].ID == callID {
			return &b.list[i]
		}
	}
	return nil
}

func (b *Batch) refuseAll(words string) {
	for i := range b.list {
		b.list[i].refusal = words
	}
}

// completed returns the result that ends the run, or nil. The batch must be complete.
func (b *Batch) completed() *CallResult {
	for i := range b.list {
		if c := &b.list[i]; c.System == SystemAttemptCompletion && !c.result.Result.IsError {
			return c.result
		}
	}
	return nil
}

// shown returns the content that the model reads as the call's result.
func (c *callState) shown() []tool.Content {
	content := c.result.Result.Content
	if len(content) == 0 {
		// some providers reject a result without content
		content = []tool.Content{tool.Text(nothingShown)}
	}
	if c.edited {
		content = slices.Concat([]tool.Content{tool.Text(fmt.Sprintf(editedCall, cmp.Or(c.final, c.Arguments)))}, content)
	}
	if len(c.dropped) > 0 {
		content = slices.Concat(content, []tool.Content{tool.Text(droppedMessage(c.dropped))})
	}
	return content
}

// subRuns returns the number of sub-runs that the last response requests, at least 1.
func (b *Batch) subRuns() int {
	n := 0
	for i := range b.list {
		if b.list[i].System == SystemNewTask {
			n++
		}
	}
	return max(n, 1)
}
