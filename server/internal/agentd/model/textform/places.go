package textform

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// readText reads text up to a tag. It returns false if it needs more text.
func (p *parser) readText(final bool) bool {
	for i, b := range p.rest {
		if b != '<' || p.code.inside() {
			p.code.add(b)
			continue
		}
		t, size := readTag(p.rest[i:], final)
		if size > 0 && p.means(t) {
			p.addText(string(p.drop(i)))
			p.enter(t, size)
			return true
		}
		if size < 0 {
			p.addText(string(p.drop(i)))
			return false
		}
		p.code.add(b)
	}
	p.addText(string(p.drop(len(p.rest))))
	return false
}

// means reports whether a tag in text is more than text.
func (p *parser) means(t tag) bool {
	if slices.Contains(thoughts, t.element) {
		// Without calls before it, the end of a reasoning block is harmless.
		return t.valid && (!t.end && !p.code.begun || t.end && len(p.calls) > 0)
	}
	return p.tools != nil && !(t.element == elementResult && t.end)
}

// enter follows a tag in text, of a size in bytes.
func (p *parser) enter(t tag, size int) {
	shown := string(p.drop(size))
	switch {
	case slices.Contains(thoughts, t.element) && t.end:
		p.broken(fmt.Sprintf("%s follows a call, without <%s> before it", shown, t.element))
	case slices.Contains(thoughts, t.element):
		p.endText()
		p.where, p.thought, p.trim = inThought, t.element, true
	case t.element == elementResult && len(p.calls) > 0:
		// The model goes on with results that it invents. A stop sequence would end the response here.
		p.where = inRest
	case t.element == elementResult:
		p.broken("only the system writes " + elementResult + " elements")
	case !t.valid && !bytes.HasSuffix([]byte(shown), []byte(">")):
		p.broken(fmt.Sprintf("the tag %q is not complete", shorten(shown)))
		p.cut = true
	case t.element == elementCall && !t.end && t.valid && t.name != "":
		p.begin(t.name)
		p.where = inCall
		if t.empty {
			p.endCall()
		}
	case t.element == elementCall && !t.end:
		p.broken(fmt.Sprintf("the tag %q has to be <%s name=\"TOOL\">", shorten(shown), elementCall))
	default:
		p.broken(fmt.Sprintf("the tag %q is outside of a call, or a tag in a value was not written with &lt;", shorten(shown)))
	}
}

// shorten returns the beginning of a tag, for a message.
func shorten(shown string) string {
	const most = 80
	if r := []rune(shown); len(r) > most {
		return string(r[:most]) + "…"
	}
	return shown
}

// named returns the name of a tool or an argument for a message.
func named(name string) string { return strconv.Quote(shorten(escape(name))) }

// readThought reads a reasoning block. Nothing in it is a call.
func (p *parser) readThought() bool {
	end := "</" + p.thought + ">"
	i := bytes.Index(p.rest, []byte(end))
	if i >= 0 {
		p.think(p.drop(i))
		p.drop(len(end))
		p.where, p.code = inText, code{}
		return true
	}
	held := min(len(p.rest), len(end)-1)
	for !strings.HasPrefix(end, string(p.rest[len(p.rest)-held:])) {
		held--
	}
	p.think(p.drop(len(p.rest) - held))
	return false
}

func (p *parser) think(text []byte) {
	if len(text) > 0 {
		p.show(model.Chunk{ReasoningDelta: &model.ReasoningDelta{Text: string(text)}})
	}
}

// readCall reads what is between the arguments of a call.
func (p *parser) readCall() bool {
	p.rest = bytes.TrimLeft(p.rest, space)
	if len(p.rest) == 0 {
		return false
	}
	name := p.calls[len(p.calls)-1].block.Name
	t, size := tag{}, 0
	if p.rest[0] == '<' {
		t, size = readTag(p.rest, false)
	}
	switch {
	case size < 0:
		return false
	case size == 0, !t.valid, t.element != elementArgument && t.element != elementCall, t.end != (t.element == elementCall):
		p.broken(fmt.Sprintf("the call of %s may only have <%s name=\"ARGUMENT\">VALUE</%s> before </%s>", named(name), elementArgument, elementArgument, elementCall))
		return false
	case t.element == elementCall:
		p.drop(size)
		p.endCall()
		return true
	case p.named[t.name]:
		p.broken(fmt.Sprintf("the call of %s has the argument %s twice", named(name), named(t.name)))
		return false
	}
	p.drop(size)
	p.beginArgument(t)
	return true
}

// endCall returns from a call to text.
func (p *parser) endCall() { p.where, p.code = inText, code{} }

func (p *parser) beginArgument(t tag) {
	permitted, known := p.tools[p.calls[len(p.calls)-1].block.Name][t.name]
	if !known {
		permitted = typeAny
	}
	comma := ""
	if len(p.named) > 0 {
		comma = ","
	}
	p.named[t.name] = true
	p.write(comma + quote(t.name) + ":")
	p.where, p.argument = inArgument, &argument{name: t.name, permitted: permitted, write: p.write, blank: true}
	if t.empty {
		p.endArgument()
	}
}

func (p *parser) endArgument() {
	problem := p.argument.close()
	p.where, p.argument = inCall, nil
	if problem != "" {
		p.broken(problem)
	}
}

// readArgument reads the value of an argument.
func (p *parser) readArgument() bool {
	i := bytes.IndexAny(p.rest, "<&")
	if i < 0 {
		i = len(p.rest)
	}
	p.argument.add(string(p.drop(i)))
	switch {
	case len(p.rest) == 0:
		return false
	case p.rest[0] == '&':
		meaning, n := unescape(p.rest, &p.verified)
		if n == 0 {
			return false
		}
		p.argument.add(string(meaning))
		p.drop(n)
		p.verified = 0
		return true
	}
	t, size := readTag(p.rest, false)
	switch {
	case size < 0:
		return false
	case size > 0 && t.element == elementArgument && t.end && t.valid:
		p.drop(size)
		p.endArgument()
	case size > 0 && (t.element == elementArgument || t.element == elementCall):
		p.broken(fmt.Sprintf("the value of the argument %s has the tag %q: close the argument with </%s> first, or write &lt; for the < of a tag that belongs to the value",
			named(p.argument.name), shorten(string(p.rest[:size])), elementArgument))
	default:
		p.argument.add(string(p.drop(1)))
	}
	return true
}
