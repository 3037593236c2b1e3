package terminal

import (
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// maxQueued bounds the messages that wait. Enter then leaves the text where it is.
const maxQueued = 20

// Control sequences by which a terminal marks a paste, so that its lines are no messages.
const (
	markPastes = "\x1b[?2004h"
	barePastes = "\x1b[?2004l"
)

// Ahead takes what a person types while nothing asks for it, such as while a model works. The
// terminal does not echo it into what is being shown: the caller shows it. Enter ends a message,
// which waits until the caller takes it. Ctrl-C and Ctrl-Z have their usual effect.
//
// A nil Ahead takes nothing. Apart from the goroutine that reads, an Ahead is for one goroutine.
type Ahead struct {
	file    *os.File
	out     io.Writer
	changed chan struct{} // has capacity 1
	stop    func()        // nil: nothing is read

	mu   sync.Mutex // guards keys
	keys keys
}

// Ahead returns an Ahead for the terminal of the console, or nil if it is none on which a person
// edits. Nothing is read before Start.
func (c *Console) Ahead() *Ahead {
	if !c.Edits() {
		return nil
	}
	return &Ahead{file: c.file, out: c.process.Stdout, changed: make(chan struct{}, 1)}
}

// Start begins to read, unless it has begun. Where that is not possible, what is typed waits in the
// terminal. The caller calls Stop before the console asks a question.
func (a *Ahead) Start() {
	if a == nil || a.stop != nil {
		return
	}
	if a.stop = readKeys(a.file, a.take); a.stop != nil {
		_, _ = io.WriteString(a.out, markPastes) // a terminal that cannot be written to shows in the next text
	}
}

// Stop ends reading, waits for its end, and leaves the terminal as it was. What was typed stays.
func (a *Ahead) Stop() {
	if a == nil || a.stop == nil {
		return
	}
	_, _ = io.WriteString(a.out, barePastes)
	a.stop()
	a.stop = nil
}

// Changed returns a channel that receives after something was typed; nil for a nil Ahead.
func (a *Ahead) Changed() <-chan struct{} {
	if a == nil {
		return nil
	}
	return a.changed
}

// Waiting returns the messages that wait, and the text of the next one so far.
func (a *Ahead) Waiting() (messages []string, text string) {
	if a == nil {
		return nil, ""
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.keys.queued), a.keys.typed()
}

// Next takes the first message that waits, or returns "".
func (a *Ahead) Next() string {
	if a == nil {
		return ""
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.keys.queued) == 0 {
		return ""
	}
	first := a.keys.queued[0]
	a.keys.queued = a.keys.queued[1:]
	return first
}

// Rest takes all that waits, with the text that has no end yet, as one text.
func (a *Ahead) Rest() string {
	if a == nil {
		return ""
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	all := a.keys.queued
	if text := a.keys.typed(); text != "" {
		all = append(all, text)
	}
	a.keys.queued, a.keys.text = nil, nil
	return strings.Join(all, "\n")
}

// Hold makes one text without an end of all that waits, for the person to look at.
func (a *Ahead) Hold() {
	if a == nil {
		return
	}
	text := a.Rest()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.keys.text = []byte(text)
}

// take takes bytes of the terminal.
func (a *Ahead) take(typed []byte) {
	a.mu.Lock()
	for _, b := range typed {
		a.keys.press(b)
	}
	a.mu.Unlock()
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

// keys makes messages of the bytes that a terminal sends. It knows the keys that change the end of
// a text, and ignores the others.
type keys struct {
	queued []string
	text   []byte
	escape []byte // a sequence that has begun, from its ESC on; nil: none
	pastes bool   // between the marks of a paste
	cr     bool   // the last byte was a carriage return in a paste
}

// typed returns the text without an end.
func (k *keys) typed() string { return strings.ToValidUTF8(string(k.text), "") }

// press takes one byte.
func (k *keys) press(b byte) {
	afterCR := k.cr
	k.cr = k.pastes && b == '\r'
	switch {
	case b == 0x1b:
		k.escape = []byte{b}
	case k.escape != nil:
		k.sequence(b)
	case k.pastes && b == '\n' && afterCR:
	case k.pastes && (b == '\r' || b == '\n'):
		k.add('\n')
	case b == '\r' || b == '\n':
		k.enter()
	case b == 0x7f || b == '\b':
		_, size := utf8.DecodeLastRune(k.text)
		k.text = k.text[:len(k.text)-size]
	case b == 'U'-'@':
		k.text = nil
	case b == 'W'-'@':
		kept := strings.TrimRight(string(k.text), " \n")
		k.text = k.text[:strings.LastIndexAny(kept, " \n")+1]
	case b >= ' ' || b == '\t':
		k.add(b)
	}
}

// sequence takes a byte of an escape sequence. Alt-Enter begins another line, and the marks of a
// paste are known. A sequence that is too long ends.
func (k *keys) sequence(b byte) {
	const longest = 32
	k.escape = append(k.escape, b)
	switch {
	case len(k.escape) == 2 && (b == '[' || b == 'O'):
		return
	case len(k.escape) > 2 && (b < 0x40 || b > 0x7e) && len(k.escape) < longest:
		return
	}
	switch string(k.escape) {
	case "\x1b[200~":
		k.pastes = true
	case "\x1b[201~":
		k.pastes = false
	case "\x1b\r":
		k.add('\n')
	}
	k.escape = nil
}

func (k *keys) add(b byte) {
	if len(k.text) < maxEditedBytes {
		k.text = append(k.text, b)
	}
}

// enter ends the message, unless a backslash before it continues it, or too many wait.
func (k *keys) enter() {
	text := k.typed()
	switch {
	case strings.HasSuffix(text, `\`):
		k.text = append(k.text[:len(k.text)-1], '\n')
	case strings.TrimSpace(text) == "":
		k.text = nil
	case len(k.queued) < maxQueued:
		k.queued, k.text = append(k.queued, text), nil
	}
}

// Lines returns what waits for a terminal of a width, one line for each message. The last line is
// the text that has no end yet, if there is one.
func (a *Ahead) Lines(wide int) []string {
	messages, text := a.Waiting()
	var lines []string
	for _, m := range messages {
		const after = " (queued)"
		lines = append(lines, cli.ClipColumns(PromptMessage+cli.OneLine(m), wide-1-len(after))+after)
	}
	if text == "" {
		return lines
	}
	shown := []rune(cli.OneLine(text)) // its end is what the person sees
	begun := ""
	for cli.Columns(PromptMessage+begun+string(shown)) > wide-1 && len(shown) > 1 {
		shown, begun = shown[max(len(shown)-wide, 1):], "…"
	}
	return append(lines, PromptMessage+begun+string(shown))
}
