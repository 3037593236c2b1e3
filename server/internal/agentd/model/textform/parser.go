package textform

import (
	"fmt"
	"strings"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// parser turns the text of a response into chunks and blocks. The result does not depend on how the
// text is split: the parser holds back what may become a tag, an escape or a longer character.
type parser struct {
	tools       map[string]map[string]types // the types of the arguments, by tool; nil: no tools
	callsBefore int                         // the number of calls in the conversation, for ids

	characters characters
	rest       []byte // what has arrived and is not parsed yet
	where      place
	code       code
	thought    string // the element of the open reasoning block
	argument   *argument
	named      map[string]bool // the arguments of the open call
	verified   int             // see unescape

	calls   []*call
	blocks  []model.Block
	text    strings.Builder // of the block that is being read
	space   strings.Builder // white space after text; it is dropped before a call
	trim    bool            // white space is dropped until there is text
	written strings.Builder // the whole response

	chunks  []model.Chunk
	problem string // why the response cannot be read; empty: it can
	cut     bool   // the problem is that the response ends inside of a tag or a call
	suspect bool   // the problem is only a suspicion
	note    *note  // what the next request has to know of a response whose calls are not complete
}

// place is where in a response the parser is.
type place int

const (
	inText place = iota
	inThought
	inCall     // between the arguments
	inArgument // between the tags of an argument
	inRest     // what follows is not read
)

// call is a call of the response.
type call struct {
	block     *model.ToolCall
	arguments strings.Builder
}

func newParser(tools []model.Tool) *parser {
	p := &parser{}
	if len(tools) > 0 {
		p.tools = make(map[string]map[string]types, len(tools))
	}
	for _, t := range tools {
		p.tools[t.Name] = argumentTypes(t.InputSchema)
	}
	return p
}

// feed parses the next piece of the response.
func (p *parser) feed(piece string) { p.parse(p.characters.add(piece)) }

func (p *parser) parse(piece string) {
	p.written.WriteString(piece)
	p.rest = append(p.rest, piece...)
	for len(p.rest) > 0 && p.step(false) {
	}
}

// step parses the next part of p.rest. It returns false if it needs more text, which final
// excludes.
func (p *parser) step(final bool) bool {
	switch p.where {
	case inText:
		return p.readText(final)
	case inThought:
		return p.readThought()
	case inCall:
		return p.readCall()
	case inArgument:
		return p.readArgument()
	default:
		p.rest = nil
		return false
	}
}

// take returns the chunks since its last call.
func (p *parser) take() []model.Chunk {
	chunks := p.chunks
	p.chunks = nil
	return chunks
}

// drop removes n bytes from p.rest and returns them.
func (p *parser) drop(n int) []byte {
	dropped := p.rest[:n]
	p.rest = p.rest[n:]
	return dropped
}

// finish ends the response. It returns the response's stop reason. suspected says that the model
// has already repeated a response after a suspicion.
func (p *parser) finish(reason model.StopReason, suspected bool) model.StopReason {
	p.parse(p.characters.rest())
	for p.where == inText && len(p.rest) > 0 && p.step(true) {
	}
	p.endOpen()
	p.endText()
	executed := goesOn(reason)
	if p.problem == "" && executed && len(p.calls) == 0 && p.tools != nil {
		p.problem = p.foreignCall()
	}
	if p.problem == "" && executed && len(p.calls) == 0 && p.tools != nil && !suspected {
		p.problem = p.suspicion()
		p.suspect = p.problem != ""
	}
	switch {
	case p.problem == "":
		for i := range p.calls {
			p.show(model.Chunk{ArgumentDelta: &model.ArgumentDelta{Index: i, Text: "}"}})
		}
	case len(p.calls) == 0 && (executed || p.cut && reason == model.StopMaxTokens):
		// The agent tells the model about a problem in the result of a call.
		p.begin(elementCall)
	}
	for _, c := range p.calls {
		c.block.Arguments = c.arguments.String()
	}
	if p.problem != "" && len(p.calls) > 0 {
		p.note = &note{Text: p.written.String(), Suspected: p.suspect}
		if executed {
			p.note.Problem = p.problem
		}
	}
	switch {
	case !executed:
		return reason
	case len(p.calls) > 0:
		return model.StopToolUse
	case reason == model.StopPauseTurn:
		return reason
	}
	return model.StopEndTurn
}

// endOpen reports what the response has not closed.
func (p *parser) endOpen() {
	switch p.where {
	case inThought:
		if p.tools != nil {
			p.broken(fmt.Sprintf("<%s> was not closed with </%s>", p.thought, p.thought))
		}
	case inCall, inArgument:
		name := p.calls[len(p.calls)-1].block.Name
		p.broken(fmt.Sprintf("the call of %s was not closed with </%s>", named(name), elementCall))
		p.cut = true
	}
}

// broken ends the reading of a response that cannot be read.
func (p *parser) broken(problem string) {
	p.problem, p.where, p.rest = problem, inRest, nil
}

// begin begins a call. Its arguments stay without the closing brace until finish.
func (p *parser) begin(name string) {
	p.endText()
	id := fmt.Sprintf("call_%d", p.callsBefore+len(p.calls)+1)
	c := &call{block: &model.ToolCall{ID: id, Name: name}}
	p.show(model.Chunk{CallBegun: &model.CallBegun{Index: len(p.calls), ID: id, Name: name}})
	p.calls, p.blocks = append(p.calls, c), append(p.blocks, model.Block{ToolCall: c.block})
	p.named, p.trim = make(map[string]bool), true
	p.write("{")
}

// write adds JSON to the arguments of the last call.
func (p *parser) write(json string) {
	p.show(model.Chunk{ArgumentDelta: &model.ArgumentDelta{Index: len(p.calls) - 1, Text: json}})
}

// addText adds text of the response. White space before and after a call is dropped, because some
// APIs refuse a block without other characters.
func (p *parser) addText(text string) {
	if p.trim {
		text = strings.TrimLeft(text, space)
	}
	body := strings.TrimRight(text, space)
	if body != "" {
		p.trim = false
		p.show(model.Chunk{TextDelta: &model.TextDelta{Text: p.space.String() + body}})
		p.space.Reset()
	}
	p.space.WriteString(text[len(body):])
}

// endText ends a block of text.
func (p *parser) endText() {
	p.space.Reset()
	if p.text.Len() > 0 {
		p.blocks = append(p.blocks, model.Block{Text: &model.Text{Text: p.text.String()}})
		p.text.Reset()
	}
}

// show adds a chunk, or appends its text to the chunk before it.
func (p *parser) show(c model.Chunk) {
	var last model.Chunk
	if len(p.chunks) > 0 {
		last = p.chunks[len(p.chunks)-1]
	}
	switch {
	case c.TextDelta != nil:
		p.text.WriteString(c.TextDelta.Text)
		if last.TextDelta != nil {
			last.TextDelta.Text += c.TextDelta.Text
			return
		}
	case c.ArgumentDelta != nil:
		p.calls[c.ArgumentDelta.Index].arguments.WriteString(c.ArgumentDelta.Text)
		if last.ArgumentDelta != nil && last.ArgumentDelta.Index == c.ArgumentDelta.Index {
			last.ArgumentDelta.Text += c.ArgumentDelta.Text
			return
		}
	}
	p.chunks = append(p.chunks, c)
}
