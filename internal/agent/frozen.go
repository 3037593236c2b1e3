package agent

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// frozen is what a snapshot holds of a state, beside what grows with the run: the conversation, the ids in it, and the
// fingerprints of results. Of calls there is nothing, since snapshots are made between turns.
type frozen struct {
	Seq  uint64 `json:"seq"`
	At   int64  `json:"at"`   // in nanoseconds
	Last []byte `json:"last"` // the fingerprint of the last record

	Size      int                        `json:"size"`
	Unread    []frozenUnread             `json:"unread,omitempty"`
	Serial    bool                       `json:"serial,omitempty"`
	Stop      StopReason                 `json:"stop,omitempty"`
	StopWords string                     `json:"stop_words,omitempty"`
	Context   map[string]json.RawMessage `json:"context,omitempty"`
	Found     []string                   `json:"found,omitempty"`
	Decisions []Pending                  `json:"decisions,omitempty"`
	Asked     int                        `json:"asked,omitempty"`
	Stuck     *frozenStuck               `json:"stuck,omitempty"`
	Room      frozenRoom                 `json:"room"`
	Cancel    *CancelRequested           `json:"cancel,omitempty"`
	Finished  *RunFinished               `json:"finished,omitempty"`
	CapRaised bool                       `json:"cap_raised,omitempty"`
	Empty     int                        `json:"empty,omitempty"`
	Text      string                     `json:"text,omitempty"`
	Turns     int                        `json:"turns"`
	Calls     int                        `json:"calls"`
	Usage     tool.Usage                 `json:"usage,omitzero"`
	Cost      float64                    `json:"cost,omitempty"`
	Spent     frozenSpent                `json:"spent"`
	Warned    map[Budget]bool            `json:"warned,omitempty"`
	Habits    frozenHabits               `json:"habits"`
}

type frozenUnread struct {
	Seq  uint64 `json:"seq"`
	Text string `json:"text"`
}

type frozenStuck struct {
	Stop  StopReason `json:"stop"`
	Words string     `json:"words"`
}

type frozenRoom struct {
	Tokens     int64  `json:"tokens,omitempty"`
	Bytes      int    `json:"bytes,omitempty"`
	Full       bool   `json:"full,omitempty"`
	Overflowed bool   `json:"overflowed,omitempty"`
	Wanted     string `json:"wanted,omitempty"`
	Barren     bool   `json:"barren,omitempty"`
	Compacted  uint64 `json:"compacted,omitempty"`
	Summaries  int    `json:"summaries,omitempty"`
	Replaced   int    `json:"replaced,omitempty"`
}

type frozenSpent struct {
	Turns    int           `json:"turns,omitempty"`
	Calls    int           `json:"calls,omitempty"`
	Tokens   uint64        `json:"tokens,omitempty"`
	Cost     float64       `json:"cost,omitempty"`
	Wall     time.Duration `json:"wall,omitempty"`
	Output   int64         `json:"output,omitempty"`
	Failures int           `json:"failures,omitempty"`
}

type frozenHabits struct {
	Timeouts map[string]int `json:"timeouts,omitempty"`
	Since    uint64         `json:"since"`
	Stale    int            `json:"stale,omitempty"`
	Idle     int            `json:"idle,omitempty"`
	// Malformed is missing in snapshots of earlier versions.
	Malformed int `json:"malformed,omitempty"`
}

// resting reports whether the state is between turns: it has no calls, and nothing is left to be told.
func (s *State) resting() bool {
	return s.seq > 0 && s.pending == 0 && len(s.batch) == 0 && len(s.news) == 0
}

// freeze returns what a snapshot of a resting state holds beside what grows. last is the fingerprint of the last record.
func (s *State) freeze(last fingerprint) *frozen {
	f := &frozen{
		Seq: s.seq, At: s.at.UnixNano(), Last: last[:], Size: s.size, Serial: s.serial, Stop: s.stop, StopWords: s.stopWords,
		Context: s.context, Found: s.found, Decisions: s.decisions, Asked: s.asked, Cancel: s.cancel, Finished: s.finished,
		CapRaised: s.capRaised, Empty: s.empty, Text: s.text, Turns: s.turns, Calls: s.calls, Usage: s.usage, Cost: s.cost,
		Warned: s.warned,
	}
	for _, u := range s.unread {
		f.Unread = append(f.Unread, frozenUnread{u.seq, u.text})
	}
	if s.stuck != nil {
		f.Stuck = &frozenStuck{s.stuck.stop, s.stuck.words}
	}
	r, u, h := &s.room, &s.spent, &s.habits
	f.Room = frozenRoom{r.tokens, r.bytes, r.full, r.overflowed, r.wanted, r.barren, r.compacted, r.summaries, r.replaced}
	f.Spent = frozenSpent{u.turns, u.calls, u.tokens, u.cost, u.wall, u.output, u.failures}
	f.Habits = frozenHabits{h.timeouts, h.since, h.stale, h.idle, h.malformed}
	return f
}

// thaw gives a state what freeze took from one, and returns the fingerprint of the last record.
func (s *State) thaw(f *frozen) (last fingerprint, err error) {
	if f.Seq == 0 || len(f.Last) != len(last) {
		return last, fmt.Errorf("a snapshot of a run after event %d cannot be", f.Seq)
	}
	s.seq, s.at, s.size, s.serial, s.stop, s.stopWords = f.Seq, time.Unix(0, f.At).UTC(), f.Size, f.Serial, f.Stop, f.StopWords
	s.context, s.found, s.decisions, s.asked, s.cancel, s.finished = f.Context, f.Found, f.Decisions, f.Asked, f.Cancel, f.Finished
	s.capRaised, s.empty, s.text, s.turns, s.calls, s.usage, s.cost = f.CapRaised, f.Empty, f.Text, f.Turns, f.Calls, f.Usage, f.Cost
	r, u, h := &f.Room, &f.Spent, &f.Habits
	s.room = room{r.Tokens, r.Bytes, r.Full, r.Overflowed, r.Wanted, r.Barren, r.Compacted, r.Summaries, r.Replaced}
	s.spent = spent{u.Turns, u.Calls, u.Tokens, u.Cost, u.Wall, u.Output, u.Failures}
	s.habits.timeouts, s.habits.since, s.habits.stale, s.habits.idle = h.Timeouts, h.Since, h.Stale, h.Idle
	s.habits.malformed = h.Malformed
	if s.warned = f.Warned; s.warned == nil {
		s.warned = make(map[Budget]bool)
	}
	for _, u := range f.Unread {
		s.unread = append(s.unread, unread{u.Seq, u.Text})
	}
	if f.Stuck != nil {
		s.stuck = &stuck{f.Stuck.Stop, f.Stuck.Words}
	}
	return fingerprint(f.Last), nil
}
