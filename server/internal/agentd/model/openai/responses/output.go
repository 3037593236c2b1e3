package responses

import (
	"bytes"
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

// The types of items that this package reads.
const (
	typeMessage   = "message"
	typeCall      = "function_call"
	typeReasoning = "reasoning"
)

// output separates the items of a response. An event belongs to the latest item of its type that
// has its item_id. If none has, because the server omits the ids or changes them, it belongs to the
// latest unfinished item at its output_index, and without an index to the latest unfinished item.
// The event output_item.added begins a new item, and so does an event that belongs to none.
//
// A call is reported when it has a name. Deltas count first: a complete text only adds what no
// delta had. Arguments that contradict their deltas are an error, because it is unknown which of
// the two the model wrote.
type output struct {
	all   []*entry // in the order of their first events
	begun []*entry // calls with a name, in the order in which they received it
	shown []shown  // in the order in which they become blocks
	// tooMany says that there are more than model.MostCalls items. The others are left out.
	tooMany bool
}

// entry is one item.
type entry struct {
	kind  string
	index *int
	id    string
	added bool // the event output_item.added has arrived
	done  bool // the event output_item.done has arrived

	all    strings.Builder // the text of a message, or the arguments
	joiner model.Joiner    // of all, or of reasoning
	phase  string          // of a message

	given  string // the call_id of the server
	callID string // the reported id, once the call has begun
	name   string
	place  int  // index among the reported calls
	closed bool // the arguments are complete

	kept *kept // reasoning
	said bool  // a piece of the reasoning was shown
	last int   // index of the last summary
}

// shown is a part of the message that the response becomes.
type shown struct {
	entry *entry
	text  *strings.Builder // of a message
}

func (o *output) empty() bool { return len(o.all) == 0 }

// find returns the item of a type that an event belongs to.
func (o *output) find(kind string, e *event) *entry {
	if found := o.lookUp(kind, e.OutputIndex, string(e.ItemID), ""); found != nil {
		return found
	}
	return o.begin(kind, e.OutputIndex, string(e.ItemID))
}

// lookUp returns the item that an event belongs to, or nil.
func (o *output) lookUp(kind string, index *int, id, callID string) *entry {
	var same, open *entry
	for _, e := range slices.Backward(o.all) {
		if e.kind != kind {
			continue
		}
		if id != "" && e.id == id {
			return e
		}
		if same == nil && callID != "" && e.given == callID {
			same = e
		}
		if open == nil && !e.done && (index == nil || e.index != nil && *index == *e.index) {
			open = e
		}
	}
	return cmp.Or(same, open)
}

func (o *output) begin(kind string, index *int, id string) *entry {
	began := &entry{kind: kind, index: index, id: id}
	if o.tooMany = o.tooMany || len(o.all) == model.MostCalls; o.tooMany {
		return began
	}
	o.all = append(o.all, began)
	if kind == typeReasoning {
		o.shown = append(o.shown, shown{entry: began})
	}
	return began
}

func known(kind string) bool { return kind == typeMessage || kind == typeCall || kind == typeReasoning }

// added begins an item.
func (o *output) added(e *event) []model.Chunk {
	i := e.Item
	if i == nil || !known(i.Type) {
		return nil
	}
	began := o.lookUp(i.Type, e.OutputIndex, string(i.ID), "")
	if began == nil || began.added && (i.ID == "" || began.id != string(i.ID)) {
		began = o.begin(i.Type, e.OutputIndex, string(i.ID))
	}
	began.added = true
	began.phase = phaseOf(i.Phase)
	if i.Type != typeCall {
		return nil
	}
	return o.name(began, i.Name, i.CallID)
}

// finish completes an item.
func (o *output) finish(index *int, i *item) ([]model.Chunk, error) {
	if !known(i.Type) {
		return nil, nil
	}
	e := o.lookUp(i.Type, index, string(i.ID), string(i.CallID))
	if e == nil {
		e = o.begin(i.Type, index, string(i.ID))
	}
	e.done = true
	switch i.Type {
	case typeCall:
		chunks := o.name(e, i.Name, i.CallID)
		more, err := o.wholeArguments(e, i.Name, i.Arguments)
		return append(chunks, more...), err
	case typeReasoning:
		if k, ok := reasoningOf(i); ok {
			e.kept = &k
		}
		if thoughts := i.thoughts(); !e.said && thoughts != "" {
			return e.thought(thoughts), nil
		}
		return nil, nil
	}
	e.phase = cmp.Or(phaseOf(i.Phase), e.phase)
	return o.wholeText(e, i.text()), nil
}

// name begins a call when its name is known, and reports the arguments that arrived before.
func (o *output) name(e *entry, name, callID wire.Text) []model.Chunk {
	if e.name != "" || name == "" {
		return nil
	}
	e.name, e.place, e.given = string(name), len(o.begun), string(callID)
	e.callID = cmp.Or(e.given, e.id)
	// Two calls with one id would get the same result.
	if e.callID == "" || slices.ContainsFunc(o.begun, func(other *entry) bool { return other.callID == e.callID }) {
		e.callID = "call_" + rand.Text()
	}
	o.begun = append(o.begun, e)
	o.shown = append(o.shown, shown{entry: e})
	chunks := []model.Chunk{{CallBegun: &model.CallBegun{Index: e.place, ID: e.callID, Name: e.name}}}
	return append(chunks, e.argument(e.all.String())...)
}

func (o *output) argumentDelta(e *event) []model.Chunk {
	call := o.find(typeCall, e)
	piece := call.joiner.Add(string(e.Delta))
	call.all.WriteString(piece)
	return call.argument(piece)
}

// wholeArguments completes the arguments of a call.
func (o *output) wholeArguments(e *entry, name, arguments wire.Text) ([]model.Chunk, error) {
	chunks := o.name(e, name, "")
	e.closed = true
	piece, fits := e.missing(arguments)
	if !fits && !sameJSON(e.all.String(), string(arguments)) {
		return nil, wire.Malformed(errors.New("the arguments of a call differ from the pieces that arrived before"))
	}
	e.all.WriteString(piece)
	return append(chunks, e.argument(piece)...), nil
}

func sameJSON(a, b string) bool {
	var first, second bytes.Buffer
	return json.Compact(&first, []byte(a)) == nil && json.Compact(&second, []byte(b)) == nil && bytes.Equal(first.Bytes(), second.Bytes())
}

func (e *entry) argument(piece string) []model.Chunk {
	if piece == "" || e.name == "" {
		return nil
	}
	return []model.Chunk{{ArgumentDelta: &model.ArgumentDelta{Index: e.place, Text: piece}}}
}

func (o *output) textDelta(e *event) []model.Chunk {
	message := o.find(typeMessage, e)
	return o.say(message, message.joiner.Add(string(e.Delta)))
}

// partDone adds a part of a message that had no deltas.
func (o *output) partDone(e *event, whole wire.Text) []model.Chunk {
	message := o.find(typeMessage, e)
	if message.all.Len() > 0 {
		return nil
	}
	return o.wholeText(message, whole)
}

// wholeText completes a message. A text that differs from its deltas is ignored: the caller has
// already seen the deltas.
func (o *output) wholeText(e *entry, whole wire.Text) []model.Chunk {
	piece, _ := e.missing(whole)
	return o.say(e, piece)
}

// say shows a piece of text. It extends the last text of the message only if that text belongs to
// the same item, so that all texts together are what the deltas add up to.
func (o *output) say(e *entry, piece string) []model.Chunk {
	if piece == "" {
		return nil
	}
	e.all.WriteString(piece)
	var into *strings.Builder
	for _, s := range slices.Backward(o.shown) {
		if s.text != nil {
			if s.entry == e {
				into = s.text
			}
			break
		}
	}
	if into == nil {
		into = new(strings.Builder)
		o.shown = append(o.shown, shown{entry: e, text: into})
	}
	into.WriteString(piece)
	return []model.Chunk{{TextDelta: &model.TextDelta{Text: piece}}}
}

func (o *output) thoughtDelta(e *event) []model.Chunk {
	reasoning := o.find(typeReasoning, e)
	piece := reasoning.joiner.Add(string(e.Delta))
	if piece == "" {
		return nil
	}
	if index := max(e.SummaryIndex, e.ContentIndex); reasoning.said && index != reasoning.last {
		piece, reasoning.last = "\n\n"+piece, index
	}
	return reasoning.thought(piece)
}

func (e *entry) thought(piece string) []model.Chunk {
	e.said = true
	var joiner model.Joiner
	clean := joiner.Add(piece)
	return []model.Chunk{{ReasoningDelta: &model.ReasoningDelta{Text: clean + joiner.Rest()}}}
}

// missing returns what is missing to a complete text. It returns false if the text contradicts what
// has arrived. An empty text completes nothing.
func (e *entry) missing(whole wire.Text) (string, bool) {
	if whole == "" {
		return "", true
	}
	var joiner model.Joiner
	clean := joiner.Add(string(whole))
	piece, fits := strings.CutPrefix(clean+joiner.Rest(), e.all.String())
	if !fits {
		return "", false
	}
	e.joiner = model.Joiner{}
	return piece, true
}

// rest returns chunks for incomplete characters at the end of the texts.
func (o *output) rest() []model.Chunk {
	var chunks []model.Chunk
	for _, e := range o.all {
		piece := e.joiner.Rest()
		switch {
		case piece == "":
		case e.kind == typeMessage:
			chunks = append(chunks, o.say(e, piece)...)
		case e.kind == typeCall:
			e.all.WriteString(piece)
			chunks = append(chunks, e.argument(piece)...)
		}
	}
	return chunks
}

// blocks returns the message. whole says that the response is complete. A call of a complete
// response must have a name, and the server must have marked its end or sent a JSON object.
func (o *output) blocks(whole bool) ([]model.Block, error) {
	if o.tooMany {
		return nil, fmt.Errorf("there are more than %d items", model.MostCalls)
	}
	for _, e := range o.all {
		if !whole || e.kind != typeCall {
			continue
		}
		if e.name == "" {
			return nil, errors.New("a tool call came without a name")
		}
		if arguments := strings.TrimSpace(e.all.String()); !e.closed && !(strings.HasPrefix(arguments, "{") && json.Valid([]byte(arguments))) {
			return nil, errors.New("a tool call came without an end")
		}
	}
	var blocks []model.Block
	for _, s := range o.shown {
		switch {
		case s.text != nil:
			if s.entry.phase != "" {
				blocks = append(blocks, kept{Type: keptMessage, Phase: s.entry.phase}.block())
			}
			blocks = append(blocks, model.Block{Text: &model.Text{Text: s.text.String()}})
		case s.entry.kind == typeCall:
			blocks = append(blocks, model.Block{ToolCall: &model.ToolCall{ID: s.entry.callID, Name: s.entry.name, Arguments: s.entry.all.String()}})
		case s.entry.kept != nil:
			blocks = append(blocks, s.entry.kept.block())
		}
	}
	return blocks, nil
}
