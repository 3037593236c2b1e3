package loop

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// Image is a complete copy of a resting state, for a snapshot. It shares memory with the state. It
// has no calls, because a state with calls is not at rest. The fields without JSON only grow until
// the conversation is compacted, so a snapshot stores them separately and in parts.
type Image struct {
	Started     RunStarted      `json:"-"`
	Messages    []model.Message `json:"-"`
	ProviderIDs []string        `json:"-"` // of all tool calls that were ever in Messages
	Seen        []Fingerprint   `json:"-"` // of results since the event Habits.Since

	Seq uint64 `json:"seq"`
	At  int64  `json:"at"` // of the last event, in nanoseconds since 1970

	Size      int                        `json:"size"`
	Attached  []Attachment               `json:"attached,omitempty"`
	Unread    []unreadImage              `json:"unread,omitempty"`
	Serial    bool                       `json:"serial,omitempty"`
	Stop      StopReason                 `json:"stop,omitempty"`
	StopWords string                     `json:"stop_words,omitempty"`
	Context   map[string]json.RawMessage `json:"context,omitempty"`
	Found     []string                   `json:"found,omitempty"`
	Decisions []Pending                  `json:"decisions,omitempty"`
	Asked     int                        `json:"asked,omitempty"`
	Stuck     *stuckImage                `json:"stuck,omitempty"`
	Room      roomImage                  `json:"room"`
	Cancel    *CancelRequested           `json:"cancel,omitempty"`
	Finished  *RunFinished               `json:"finished,omitempty"`
	CapRaised bool                       `json:"cap_raised,omitempty"`
	Empty     int                        `json:"empty,omitempty"`
	Text      string                     `json:"text,omitempty"`
	// Result and Repairs are absent in snapshots of earlier versions.
	Result  json.RawMessage `json:"result,omitempty"`
	Repairs int             `json:"repairs,omitempty"`
	Ledger  string          `json:"ledger,omitempty"`
	Turns   int             `json:"turns"`
	Calls   int             `json:"calls"`
	Usage   tool.Usage      `json:"usage,omitzero"`
	Cost    float64         `json:"cost,omitempty"`
	Spent   spentImage      `json:"spent"`
	Warned  map[Budget]bool `json:"warned,omitempty"`
	Habits  habitsImage     `json:"habits"`
	// Settled is absent in snapshots of earlier versions.
	Settled Settlements `json:"settled,omitzero"`
	// Said is absent in snapshots of earlier versions.
	Said []said `json:"said,omitempty"`
}

type unreadImage struct {
	Seq         uint64       `json:"seq"`
	Text        string       `json:"text"`
	Attachments []Attachment `json:"attachments,omitempty"`
}

type stuckImage struct {
	Stop  StopReason `json:"stop"`
	Words string     `json:"words"`
}

type roomImage struct {
	Tokens     int64  `json:"tokens,omitempty"`
	Bytes      int    `json:"bytes,omitempty"`
	Full       bool   `json:"full,omitempty"`
	Overflowed bool   `json:"overflowed,omitempty"`
	Wanted     string `json:"wanted,omitempty"`
	Barren     bool   `json:"barren,omitempty"`
	Compacted  uint64 `json:"compacted,omitempty"`
	Summaries  int    `json:"summaries,omitempty"`
	Replaced   int    `json:"replaced,omitempty"`
	// Fallback is absent in snapshots of earlier versions.
	Fallback int `json:"fallback,omitempty"`
}

type spentImage struct {
	Turns    int           `json:"turns,omitempty"`
	Calls    int           `json:"calls,omitempty"`
	Tokens   uint64        `json:"tokens,omitempty"`
	Cost     float64       `json:"cost,omitempty"`
	Wall     time.Duration `json:"wall,omitempty"`
	Output   int64         `json:"output,omitempty"`
	Failures int           `json:"failures,omitempty"`
}

type habitsImage struct {
	Timeouts map[string]int `json:"timeouts,omitempty"`
	Since    uint64         `json:"since"`
	Stale    int            `json:"stale,omitempty"`
	Idle     int            `json:"idle,omitempty"`
	// Malformed is absent in snapshots of earlier versions.
	Malformed int `json:"malformed,omitempty"`
	AsText    int `json:"as_text,omitempty"` // the same
}

// Resting reports whether the state is between turns: it has no calls and no unrecorded events.
// Only a resting state has an image.
func (s *State) Resting() bool {
	return s.seq > 0 && s.batch.pending == 0 && len(s.batch.list) == 0 && len(s.news) == 0
}

// Image returns the image of a resting state.
func (s *State) Image() *Image {
	r, u, h := &s.window, &s.budget.spent, &s.stall
	img := &Image{
		Started: s.started, Messages: s.conversation.messages, ProviderIDs: s.conversation.providerIDs.list, Seen: h.seen.list,
		Seq: s.seq, At: s.at.UnixNano(), Size: s.conversation.size, Attached: s.conversation.attached, Serial: s.batch.serial, Stop: s.stop, StopWords: s.stopMessage,
		Context: s.values.context, Found: s.searched.found, Decisions: s.people.decisions, Asked: s.people.asked, Cancel: s.cancel, Finished: s.finished,
		CapRaised: s.capRaised, Empty: s.empty, Text: s.text, Result: s.answering.result, Repairs: s.answering.repairs, Ledger: s.ledger, Turns: s.budget.turns, Calls: s.budget.calls, Usage: s.budget.usage, Cost: s.budget.cost,
		Warned: s.budget.warned, Settled: s.settlements, Said: s.said,
		Room:   roomImage{r.tokens, r.bytes, r.full, r.overflowed, r.summaryWanted, r.summaryFailed, r.compacted, r.summaries, r.replaced, r.fallback},
		Spent:  spentImage{u.turns, u.calls, u.tokens, u.cost, u.wall, u.output, u.failures},
		Habits: habitsImage{h.timeouts, h.since, h.repeats, h.withoutCalls, h.malformed, h.asText},
	}
	for _, u := range s.conversation.unread {
		img.Unread = append(img.Unread, unreadImage{u.seq, u.text, u.attached})
	}
	if s.paused != nil {
		img.Stuck = &stuckImage{s.paused.stop, s.paused.message}
	}
	return img
}

// Restore returns the state of an image. The state takes over the image's memory.
func Restore(img *Image) (State, error) {
	if img.Seq == 0 {
		return State{}, errors.New("an image needs at least one event")
	}
	r, u, h := &img.Room, &img.Spent, &img.Habits
	s := State{
		started: img.Started, seq: img.Seq, at: time.Unix(0, img.At).UTC(),
		conversation: conversation{messages: img.Messages, size: img.Size, attached: img.Attached, providerIDs: orderedSet[string]{list: img.ProviderIDs}},
		batch:        Batch{serial: img.Serial},
		people:       people{img.Decisions, img.Asked},
		budget: budget{
			turns: img.Turns, calls: img.Calls, usage: img.Usage, cost: img.Cost, warned: img.Warned,
			spent: spent{u.Turns, u.Calls, u.Tokens, u.Cost, u.Wall, u.Output, u.Failures},
		},
		stop: img.Stop, stopMessage: img.StopWords, values: values{img.Context}, searched: searched{img.Found}, cancel: img.Cancel, finished: img.Finished,
		capRaised: img.CapRaised, empty: img.Empty, text: img.Text, ledger: img.Ledger,
		settlements: img.Settled, said: img.Said,
		window:    windowUse{r.Tokens, r.Bytes, r.Full, r.Overflowed, r.Wanted, r.Barren, r.Compacted, r.Summaries, r.Replaced, r.Fallback},
		answering: answering{result: img.Result, repairs: img.Repairs},
		stall:     stall{timeouts: h.Timeouts, seen: orderedSet[Fingerprint]{list: img.Seen}, since: h.Since, repeats: h.Stale, withoutCalls: h.Idle, malformed: h.Malformed, asText: h.AsText},
	}
	if s.budget.warned == nil {
		s.budget.warned = make(map[Budget]bool)
	}
	for _, u := range img.Unread {
		s.conversation.unread = append(s.conversation.unread, unread{u.Seq, u.Text, u.Attachments})
	}
	if img.Stuck != nil {
		s.paused = &pause{img.Stuck.Stop, img.Stuck.Words}
	}
	return s, nil
}
