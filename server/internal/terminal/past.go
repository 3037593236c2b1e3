package terminal

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// past walks through the history of an editor. A walk keeps the text that the person typed before
// it.
type past struct {
	texts []string
	at    int // the text on the screen; len(texts): what the person typed
	typed string
}

func newPast(history []string) past {
	return past{texts: slices.Clone(history), at: len(history)}
}

// leave ends a walk.
func (p *past) leave() { p.at, p.typed = len(p.texts), "" }

// recall replaces the text by an older or a later one of the history, if the cursor is in the first
// or in the last row. It reports whether it used the key.
func (e *editor) recall(older bool) bool {
	row := e.area.LineInfo()
	p := &e.past
	switch {
	case !e.asked.Message:
		return false
	case older && (e.area.Line() > 0 || row.RowOffset > 0 || p.at == 0):
		return false
	case !older && (e.area.Line() < e.area.LineCount()-1 || row.RowOffset < row.Height-1 || p.at == len(p.texts)):
		return false
	}
	if p.at == len(p.texts) {
		p.typed = e.text()
	}
	if older {
		p.at--
	} else {
		p.at++
	}
	if p.at == len(p.texts) {
		e.set(p.typed)
	} else {
		e.set(p.texts[p.at])
	}
	return true
}

// search is a search backward through the history. The text on the screen is the one that was
// found.
type search struct {
	words  string
	failed bool
	before string // the text before the search
}

func (s *search) line() string {
	if s.failed {
		return "no message has: " + cli.OneLine(s.words)
	}
	return "search (Ctrl-R: older, Enter: take it, Esc: back): " + cli.OneLine(s.words)
}

// search begins a search.
func (e *editor) search() {
	if e.asked.Message && len(e.past.texts) > 0 {
		e.find = &search{before: e.text()}
		e.past.leave()
		e.past.typed = e.find.before
	}
}

// searchKey handles a key during a search. It reports false if the key ended the search and has
// another meaning.
func (e *editor) searchKey(k tea.KeyPressMsg) bool {
	s := e.find
	switch name := k.String(); {
	case name == "ctrl+r":
		e.seek(e.past.at - 1)
	case name == "backspace" || name == "ctrl+h":
		words := []rune(s.words)
		s.words = string(words[:max(len(words)-1, 0)])
		e.seek(len(e.past.texts) - 1)
	case name == "esc" || name == "ctrl+g" || name == "ctrl+c":
		e.find = nil
		e.past.leave()
		e.set(s.before)
	case name == "enter":
		e.find = nil
	case k.Text != "":
		s.words += k.Text
		e.seek(min(e.past.at, len(e.past.texts)-1))
	default:
		e.find = nil
		return false
	}
	return true
}

// seek shows the latest text with the words of the search, from one on backward.
func (e *editor) seek(from int) {
	s := e.find
	s.failed = false
	if s.words == "" {
		return
	}
	for i := from; i >= 0; i-- {
		if strings.Contains(strings.ToLower(e.past.texts[i]), strings.ToLower(s.words)) {
			e.past.at = i
			e.set(e.past.texts[i])
			return
		}
	}
	s.failed = true
}
