package loop

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/tool"
)

// State is what the events of a run's journal fold to. The zero value is the run before its first event. It is not
// safe for concurrent use.
type State struct {
	started  RunStarted
	seq      uint64          // of the last event
	at       time.Time       // of the last event
	messages []model.Message // the conversation; well-paired whenever the model is to be asked
	size     int             // how much text messages hold; see sizeOf
	unread   []unread        // user messages that are not in messages yet, in order

	batch     []callState // the last response's calls, until all have results
	pending   int         // how many of batch have no result
	serial    bool        // whether one of batch must not run beside another
	stop      StopReason  // why the run ends once the batch is complete; empty: it goes on
	stopWords string      // more on stop

	context   map[string]json.RawMessage // the run's values; replaced, never changed
	found     []string                   // the tools that searches found, the latest last
	news      []Payload                  // what has happened besides, until it is told
	decisions []Pending                  // that people have to make, in the order in which they were asked for
	asked     int                        // how many decisions were ever asked for
	stuck     *stuck                     // why the run pauses; nil: it does not

	room room // in the model's window

	cancel    *CancelRequested // set from the request until the run finishes
	finished  *RunFinished     // set while the run is finished
	capRaised bool             // whether a response has been cut since the run (re)started
	empty     int              // how many responses in a row held nothing
	text      string           // the model's last text, or a direct result

	turns, calls int // in all
	usage        tool.Usage
	cost         float64
	spent        spent           // since the run (re)started
	warned       map[Budget]bool // which budgets people were warned of since then
	habits       habits
	providerIDs  gathered[string] // the ids of the tool calls that were ever in messages
}

type unread struct {
	seq  uint64
	text string
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
	asks       []string // what its sub-run waits for; see SubRunWaiting
}

// running reports whether the call is to be under way.
func (c *callState) running() bool {
	return c.started && !c.waiting && c.result == nil && c.settled == nil && c.refusal == ""
}

// Seq returns the place of the last event.
func (s *State) Seq() uint64 { return s.seq }

// Started returns what the run was asked to be. It must not be changed. The zero value before its first event.
func (s *State) Started() *RunStarted { return &s.started }

// Finished returns how the run ended, or nil while there is something to do.
func (s *State) Finished() *RunFinished { return s.finished }

// Cancelling reports whether the run is asked to stop and has not finished yet.
func (s *State) Cancelling() bool { return s.cancel != nil }

// Found returns the tools that searches found, the latest last. It must not be changed.
func (s *State) Found() []string { return s.found }

// BatchSize returns how many calls the last response asked for, while some of them have no result.
func (s *State) BatchSize() int { return len(s.batch) }

// Call returns the call of the last response with an id, or nil. It is valid until the next event.
func (s *State) Call(callID string) *Call {
	if c := s.find(callID); c != nil {
		return &c.Call
	}
	return nil
}

// Turn returns the number of the response that the model gives next, from 1.
func (s *State) Turn() int { return s.turns + 1 }

// Request returns the conversation for the model's next response, without tools. It shares nothing that changes later.
func (s *State) Request() model.Request {
	conversation := State{messages: slices.Clone(s.messages)}
	for _, u := range s.unread {
		conversation.pushUser(textBlock(u.text))
	}
	limit := s.started.Limits.MaxResponseTokens
	if s.capRaised {
		limit = s.started.Limits.raised()
	}
	return model.Request{System: s.started.SystemPrompt, Messages: conversation.messages, MaxTokens: limit, Replaced: s.room.replaced}
}

// pushUser adds blocks to the conversation on the user's side. Two messages of one side never follow each other: some
// providers refuse that.
func (s *State) pushUser(blocks ...model.Block) {
	s.size += sizeOfBlocks(blocks)
	if n := len(s.messages); n > 0 && s.messages[n-1].Role == model.RoleUser {
		last := s.messages[n-1]
		// A new slice: requests that are under way hold the old one.
		s.messages[n-1] = model.Message{Role: model.RoleUser, Blocks: slices.Concat(last.Blocks, blocks)}
		return
	}
	s.messages = append(s.messages, model.Message{Role: model.RoleUser, Blocks: blocks})
}

// answers returns how many calls of the last response may answer the user together; 0 if a result goes to the model.
func (s *State) Answers() int {
	for i := range s.batch {
		if !s.batch[i].ReturnDirect {
			return 0
		}
	}
	return len(s.batch)
}

// find returns the call of the batch with an id, or nil.
func (s *State) find(callID string) *callState {
	for i := range s.batch {
		if s.batch[i].ID == callID {
			return &s.batch[i]
		}
	}
	return nil
}

func textBlock(text string) model.Block { return model.Block{Text: &model.Text{Text: text}} }

func TextOf(m *model.Message) string {
	var parts []string
	for _, b := range m.Blocks {
		if b.Text != nil && b.Text.Text != "" {
			parts = append(parts, b.Text.Text)
		}
	}
	return strings.Join(parts, "\n")
}
