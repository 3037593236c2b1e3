package openai

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"

	"github.com/toolhost/toolhost/internal/model"
)

// calls are the tool calls of an answer. A delta belongs to the call of its id; without one, to the latest call at its
// index; without that too, to the latest call. It begins a new call if its id is new, even at an index that is in use,
// and, where ids or indexes are missing, if it has a name where the call in question is already whole. A missing id is
// made up, and a call is shown once it has a name. A delta that says nothing is ignored.
type calls struct {
	all   []*call // in the order in which their first delta came
	begun []*call // those with a name, in the order in which they got it
}

type call struct {
	index     *int
	given     string // the server's id; empty: none so far
	id        string // what it is known as; empty: not begun
	name      string
	place     int // among those that have begun
	arguments strings.Builder
	extra     json.RawMessage // what the server wants back with it
}

func (s *calls) add(d callDelta) []model.Chunk {
	says := d.ID != "" || d.Function.Name != "" || d.Function.Arguments != ""
	if !says && absent(d.Extra) {
		return nil
	}
	c := s.find(d)
	if c == nil {
		if !says {
			return nil
		}
		c = &call{index: d.Index}
		s.all = append(s.all, c)
	}
	if c.given == "" {
		c.given = string(d.ID)
	}
	if !absent(d.Extra) {
		c.extra = d.Extra
	}
	var chunks []model.Chunk
	if c.name == "" && d.Function.Name != "" {
		chunks = append(chunks, s.begin(c, string(d.Function.Name))...)
	}
	if d.Function.Arguments != "" {
		c.arguments.WriteString(string(d.Function.Arguments))
		if c.name != "" {
			chunks = append(chunks, c.delta(string(d.Function.Arguments)))
		}
	}
	return chunks
}

// begin shows a call, and the arguments that came before its name.
func (s *calls) begin(c *call, name string) []model.Chunk {
	c.name, c.id, c.place = name, c.given, len(s.begun)
	if c.id == "" {
		c.id = "call_" + rand.Text()
	}
	s.begun = append(s.begun, c)
	chunks := []model.Chunk{{CallBegun: &model.CallBegun{Index: c.place, ID: c.id, Name: c.name}}}
	if c.arguments.Len() > 0 {
		chunks = append(chunks, c.delta(c.arguments.String()))
	}
	return chunks
}

func (c *call) delta(text string) model.Chunk {
	return model.Chunk{ArgumentDelta: &model.ArgumentDelta{Index: c.place, Text: text}}
}

// find returns the call that a delta belongs to; nil if it begins one.
func (s *calls) find(d callDelta) *call {
	if d.ID != "" {
		for _, c := range s.all {
			if c.given == string(d.ID) {
				return c
			}
		}
	}
	c := s.latest(d.Index)
	switch {
	case c == nil:
		return nil
	case d.ID != "" && (c.given != "" || c.name != "" && d.Function.Name != ""):
		return nil
	case d.Function.Name != "" && c.name != "" && (d.Index == nil || c.whole()):
		return nil
	}
	return c
}

// latest returns the last call at an index, or, without one, the last call.
func (s *calls) latest(index *int) *call {
	for i := len(s.all) - 1; i >= 0; i-- {
		c := s.all[i]
		if index == nil || c.index != nil && *c.index == *index {
			return c
		}
	}
	return nil
}

func (c *call) whole() bool { return json.Valid([]byte(c.arguments.String())) }

// finished returns the calls as they are to be run. A call that never got a name cannot be.
func (s *calls) finished() ([]*model.ToolCall, error) {
	if len(s.begun) < len(s.all) {
		return nil, errors.New("a tool call came without a name")
	}
	finished := make([]*model.ToolCall, 0, len(s.begun))
	for _, c := range s.begun {
		finished = append(finished, &model.ToolCall{ID: c.id, Name: c.name, Arguments: c.arguments.String()})
	}
	return finished, nil
}

// extra returns what the server wants back with each call; nil if nothing.
func (s *calls) extra() []json.RawMessage {
	var all []json.RawMessage
	for i, c := range s.begun {
		if c.extra == nil {
			continue
		}
		if all == nil {
			all = make([]json.RawMessage, len(s.begun))
			for j := range all {
				all[j] = json.RawMessage("null")
			}
		}
		all[i] = c.extra
	}
	return all
}
