package loop

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/toolhost/toolhost/tool"
)

// batch is the calls of the last response, until all of them have results.
type batch struct {
	list    []callState
	pending int  // how many of list have no result
	serial  bool // whether one of list must not run beside another
}

type callState struct {
	Call                   // with the arguments that are, or would be, sent
	providerID string      // pairs the result with the call in the conversation
	name       string      // the tool's name in the conversation
	started    bool        // it was sent; it may be waiting again since
	waiting    bool        // for a decision
	edited     bool        // a person changed the arguments
	final      string      // the final arguments that a person saw and approved; empty: none
	held       *CallResult // what becomes its result unless a person makes something else of it
	refusal    string      // why the call is not made; empty: it is
	settled    *CallResult // its result, which is still to be journaled
	result     *CallResult
	dropped    []string // why some of its effects were refused
	waitsFor   []string // what its sub-run waits for; see SubRunWaiting
}

// running reports whether the call is to be under way.
func (c *callState) running() bool {
	return c.started && !c.waiting && c.result == nil && c.settled == nil && c.refusal == ""
}

// BatchSize returns how many calls the last response asked for, while some of them have no result.
func (b *batch) BatchSize() int { return len(b.list) }

// Call returns the call of the last response with an id, or nil. It is valid until the next event.
func (b *batch) Call(callID string) *Call {
	if c := b.find(callID); c != nil {
		return &c.Call
	}
	return nil
}

// answers returns how many calls of the last response may answer the user together; 0 if a result goes to the model.
func (b *batch) Answers() int {
	for i := range b.list {
		if !b.list[i].ReturnDirect {
			return 0
		}
	}
	return len(b.list)
}

// find returns the call of the batch with an id, or nil.
func (b *batch) find(callID string) *callState {
	for i := range b.list {
		if b.list[i].ID == callID {
			return &b.list[i]
		}
	}
	return nil
}

func (b *batch) refuseAll(words string) {
	for i := range b.list {
		b.list[i].refusal = words
	}
}

// completed returns the result with which the complete batch ends the run, or nil.
func (b *batch) completed() *CallResult {
	for i := range b.list {
		if c := &b.list[i]; c.System == SystemAttemptCompletion && !c.result.Result.IsError {
			return c.result
		}
	}
	return nil
}

// shown returns what the model reads as the call's result.
func (c *callState) shown() []tool.Content {
	content := c.result.Result.Content
	if len(content) == 0 {
		content = []tool.Content{tool.Text(nothingShown)} // some providers refuse a result without content
	}
	if c.edited {
		content = slices.Concat([]tool.Content{tool.Text(fmt.Sprintf(editedCall, cmp.Or(c.final, c.Arguments)))}, content)
	}
	if len(c.dropped) > 0 {
		content = slices.Concat(content, []tool.Content{tool.Text(droppedMessage(c.dropped))})
	}
	return content
}

// subRuns returns how many sub-runs the last response asked for, at least 1.
func (b *batch) subRuns() int {
	n := 0
	for i := range b.list {
		if b.list[i].System == SystemNewTask {
			n++
		}
	}
	return max(n, 1)
}
