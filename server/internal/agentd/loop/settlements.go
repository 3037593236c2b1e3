package loop

import "github.com/toolhost/toolhost/tool"

// Settlements counts the calls of a run whose outcome was unknown, and whose tools were asked what
// became of them.
type Settlements struct {
	Happened int `json:"happened,omitempty"` // the tool says that the call had happened
	Repeated int `json:"repeated,omitempty"` // the tool says that it had not, and the call was made again
	Unknown  int `json:"unknown,omitempty"`  // the tool does not know
}

// Settled returns the number of calls whose tools knew.
func (s Settlements) Settled() int { return s.Happened + s.Repeated }

// add counts what a tool said about a call; nil: it was not asked.
func (s *Settlements) add(said *tool.Settlement) {
	switch {
	case said == nil:
	case said.Verdict == tool.VerdictHappened:
		s.Happened++
	case said.Verdict == tool.VerdictDidNotHappen:
		s.Repeated++
	default:
		s.Unknown++
	}
}
