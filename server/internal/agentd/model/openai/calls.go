package openai

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/model/openai/wire"
)

// calls separates the tool calls of a response. A delta belongs to the call with its id. Without an
// id it belongs to the latest call at its index, and without an index to the latest call. A delta
// begins a new call if its id is new, even at a used index. If ids or indexes are missing, it
// begins a new call if it has a name and the call that it would belong to has complete arguments. A
// missing id is generated. A call is reported when it has a name. An empty delta is ignored.
//
// Some servers give all calls of a response the same id. A delta with a known id therefore begins a
// new call in three cases: no call has its index; its name differs; or the call is complete, and
// the delta has other complete arguments or repeats its name. Complete arguments that the call
// already has are ignored, because some servers repeat everything at the end.
type calls struct {
	all     []*call // in the order of their first deltas
	begun   []*call // calls with a name, in the order in which they received it
	tooMany bool    // there are more than model.MostCalls, which are left out
}

type call struct {
	index     *int
	given     string // the server's id; empty if none has arrived
	id        string // the reported id; empty if not reported yet
	name      string
	place     int // index among the reported calls
	arguments strings.Builder
	joiner    model.Joiner    // of arguments
	shape     wire.Closing    // of arguments
	extra     json.RawMessage // data that the server wants back with the call
	again     bool            // it was complete, and its name arrived again
}

func (s *calls) add(d callDelta) []model.Chunk {
	says := d.ID != "" || d.Function.Name != "" || d.Function.Arguments != ""
	if !says && absent(d.Extra) {
		return nil
	}
	c := s.find(d)
	if c != nil && c.whole() && hasText(d) {
		switch same := strings.TrimSpace(string(d.Function.Arguments)) == strings.TrimSpace(c.arguments.String()); {
		case same:
			return nil
		case c.again || d.Function.Name != "" && isObject(string(d.Function.Arguments)):
			d.ID, d.Function.Name = cmp.Or(d.ID, wire.Text(c.given)), cmp.Or(d.Function.Name, wire.Text(c.name))
			c = nil
		}
	} else if c != nil && c.whole() && d.Function.Name != "" {
		c.again = true
	}
	if c == nil {
		if s.tooMany = s.tooMany || len(s.all) == model.MostCalls; s.tooMany || !says {
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
	// White space after complete arguments means nothing, and a server could send it without end.
	if text := c.joiner.Add(string(d.Function.Arguments)); text != "" && !(c.whole() && strings.TrimSpace(text) == "") {
		c.write(text)
		if c.name != "" {
			chunks = append(chunks, c.delta(text))
		}
	}
	return chunks
}

// begin reports a call and the arguments that arrived before its name.
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

// find returns the call that a delta belongs to, or nil if the delta begins a new call.
func (s *calls) find(d callDelta) *call {
	if c, known := s.named(d); known {
		return c
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

// named returns the call with the delta's id, and whether the id is known. The call is nil if the
// delta begins another call with the same id.
func (s *calls) named(d callDelta) (_ *call, known bool) {
	if d.ID == "" {
		return nil, false
	}
	var c *call
	for _, other := range slices.Backward(s.all) {
		if other.given != string(d.ID) {
			continue
		}
		if !known && (d.Index == nil || s.latest(d.Index) != nil) {
			c = other // a call with the same id and index has priority
		}
		known = true
		if d.Index == nil || other.index == nil || *other.index == *d.Index {
			c = other
			break
		}
	}
	if c != nil && d.Function.Name != "" && c.name != "" && c.name != string(d.Function.Name) {
		c = nil
	}
	return c, known
}

func hasText(d callDelta) bool { return strings.TrimSpace(string(d.Function.Arguments)) != "" }

func isObject(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}") && json.Valid([]byte(text))
}

// latest returns the last call at an index, or the last call if index is nil.
func (s *calls) latest(index *int) *call {
	for i := len(s.all) - 1; i >= 0; i-- {
		c := s.all[i]
		if index == nil || c.index != nil && *c.index == *index {
			return c
		}
	}
	return nil
}

// whole reports whether the arguments are a complete object.
func (c *call) whole() bool {
	return c.shape.Complete(func() bool { return isObject(c.arguments.String()) })
}

// write adds a piece of the arguments.
func (c *call) write(text string) {
	c.shape.Add([]byte(text))
	c.arguments.WriteString(text)
}

// finished returns the calls for execution. A call without a name is an error.
func (s *calls) finished() ([]*model.ToolCall, error) {
	switch {
	case s.tooMany:
		return nil, fmt.Errorf("there are more than %d tool calls", model.MostCalls)
	case len(s.begun) < len(s.all):
		return nil, errors.New("a tool call came without a name")
	}
	finished := make([]*model.ToolCall, 0, len(s.begun))
	for _, c := range s.begun {
		finished = append(finished, &model.ToolCall{ID: c.id, Name: c.name, Arguments: c.arguments.String()})
	}
	return finished, nil
}

// extra returns the data that the server wants back with each call, or nil if there is none.
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
