package loop

import (
	"slices"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// State is what the events of a run's journal fold to. The zero value is the run before its first
// event. It is not safe for concurrent use.
//
// State holds what concerns the run as a whole, and embeds the parts that own the rest: the
// conversation, the calls of the last response, the decisions of people, and what was used of the
// budgets. A part changes only its own fields. What needs several parts is on State: Apply
// (apply.go) folds an event into them and concludes what a response and its results mean for the
// run. Next (next.go) reads them to name the next commands, and changes nothing.
type State struct {
	started RunStarted
	seq     uint64    // of the last event
	at      time.Time // of the last event

	conversation conversation
	batch        Batch
	people       people
	budget       budget
	values       values
	searched     searched
	answering    answering
	window       windowUse // the use of the model's window
	stall        stall     // signs that the run makes no progress

	settlements Settlements // of all calls of the run
	said        []said      // the latest messages that had an id, oldest first

	news []Payload // events that follow from others and are not recorded yet

	stop        StopReason       // why the run ends once the batch is complete; empty: it continues
	stopMessage string           // details of stop
	paused      *pause           // why the run pauses; nil: it does not
	cancel      *CancelRequested // set from the request until the run finishes
	finished    *RunFinished     // set while the run is finished
	capRaised   bool             // whether a response has been cut since the run (re)started
	empty       int              // empty responses in a row
	text        string           // the model's last text, or a direct result
	ledger      string           // see LedgerAtBackup
}

// Seq returns the Seq of the last event.
func (s *State) Seq() uint64 { return s.seq }

// Started returns the run's first event, which must not be changed. It is the zero value before
// that event.
func (s *State) Started() *RunStarted { return &s.started }

// Finished returns how the run ended, or nil if it has not finished.
func (s *State) Finished() *RunFinished { return s.finished }

// Cancelling reports whether the run is asked to stop and has not finished yet.
func (s *State) Cancelling() bool { return s.cancel != nil }

// LedgerAtBackup returns the id of the ledger under which the run sends the first attempts of its
// calls, because its journal was restored from a backup; see RunResumed. Empty: the run was not
// restored, or has finished since.
func (s *State) LedgerAtBackup() string { return s.ledger }

// Batch returns the calls of the last response. It is valid until the next event, and must not be
// changed.
func (s *State) Batch() *Batch { return &s.batch }

// Decision returns the pending decision with an id, or nil.
func (s *State) Decision(id string) *Pending { return s.people.decision(id) }

// Asked returns the pending decision about a question of a call, or nil.
func (s *State) Asked(callID string, question uint32) *Pending {
	return s.people.onQuestion(callID, question)
}

// Found returns the names of the tools that searches have found, ordered by search, the latest
// last. The caller must not change the slice.
func (s *State) Found() []string { return s.searched.found }

// Turn returns the number of the model's next response, from 1.
func (s *State) Turn() int { return s.budget.turns + 1 }

// Request returns the model's next request, without tools. It shares no memory that changes later.
func (s *State) Request() model.Request {
	whole := conversation{messages: slices.Clone(s.conversation.messages)}
	for _, u := range s.conversation.unread {
		whole.pushUser(userBlocks(u.text, u.attached)...)
	}
	limit := s.started.Limits.MaxResponseTokens
	if s.capRaised {
		limit = s.started.Limits.raised()
	}
	return model.Request{System: s.started.instructions(), Messages: whole.messages, MaxTokens: limit, Sampling: s.started.Sampling, Replaced: s.window.replaced}
}
