package terminal

import (
	"io"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

const (
	// tabMark replaces a tab while a person edits. Otherwise the text area would replace it by spaces.
	// Terminals show the mark, and people rarely type it.
	tabMark = "␉"
	// maxEditedLines and maxEditedBytes bound the text in an editor. The text area holds no more
	// lines, and gets slow with more text.
	maxEditedLines = 9000
	maxEditedBytes = 128 << 10
	// quiet is how long no key may arrive before a question appears. A key that a person pressed
	// earlier, or the rest of a paste, is no answer. A person does not notice the time.
	quiet = 100 * time.Millisecond
)

// FitsEditor reports whether a person can edit a text in the editor.
func FitsEditor(text string) bool {
	return len(text) <= maxEditedBytes && strings.Count(text, "\n") < maxEditedLines
}

// editor is a bubbletea model in which a person edits the answer to a question. The text area edits
// and draws; editor adds what it lacks: the end of an answer, the history, decisions that ignore
// pastes, and early keys. It is for the goroutine of its program.
type editor struct {
	asked Question
	area  textarea.Model
	past  past
	find  *search // nil: no search is in progress
	note  string  // a line below the text, until the next key
	again bool    // the last key was a Ctrl-C without a text
	wide  int

	ready bool // the question is on the screen
	early int  // the keys that came before
	ended bool
	typed Typed
}

// withdrawn ends an editor without an answer. calm says that no key came after the first early
// keys.
type (
	withdrawn struct{}
	calm      struct{ early int }
)

func newEditor(q Question, history []string) *editor {
	e := &editor{asked: q, area: textarea.New(), past: newPast(history), ready: q.Message}
	e.area.ShowLineNumbers = false
	e.area.DynamicHeight, e.area.MaxWidth, e.area.MaxContentHeight = true, 0, 1<<30
	e.area.EndOfBufferCharacter = ' '
	e.area.SetVirtualCursor(false)
	e.area.SetStyles(textarea.Styles{})
	keys := &e.area.KeyMap
	for _, unused := range []*key.Binding{&keys.Paste, &keys.CopySelection, &keys.InsertNewline} { // the terminal pastes and copies
		unused.SetEnabled(false)
	}
	e.area.Focus()
	e.layout(80, 24)
	e.set(q.Text)
	return e
}

// set replaces the text. The cursor is at the end.
func (e *editor) set(text string) { e.area.SetValue(marked(text)) }

// marked returns text as the text area holds it.
func marked(text string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", tabMark).Replace(text)
}

// text returns the text that the person edited.
func (e *editor) text() string { return strings.ReplaceAll(e.area.Value(), tabMark, "\t") }

// layout adapts the editor to a terminal.
func (e *editor) layout(wide, high int) {
	e.wide = wide
	e.area.MaxHeight = max(high-len(e.head())-2, 1) // one line for the note, and one for what was above
	first := PromptMessage
	if len(e.head()) == 0 {
		first = e.asked.Prompt
	}
	e.area.SetPromptFunc(cli.Columns(first), func(line textarea.PromptInfo) string {
		if line.LineNumber == 0 {
			return first
		}
		return ""
	})
	e.area.SetWidth(wide)
}

// head returns the lines of a prompt that is too long to stand before the text.
func (e *editor) head() []string {
	if cli.Columns(e.asked.Prompt) <= e.wide/2 {
		return nil
	}
	return cli.Wrap(e.asked.Prompt, e.wide)
}

// Init implements tea.Model.
func (e *editor) Init() tea.Cmd { return e.calmed() }

func (e *editor) calmed() tea.Cmd {
	early := e.early
	return tea.Tick(quiet, func(time.Time) tea.Msg { return calm{early} })
}

// Update implements tea.Model.
func (e *editor) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		e.layout(msg.Width, msg.Height)
		return e, nil
	case withdrawn:
		return e.end(Typed{Err: ErrInterrupted})
	case calm:
		e.ready = e.ready || msg.early == e.early
		return e, nil
	case tea.PasteMsg:
		if e.ready {
			e.paste(msg.Content)
			return e, nil
		}
	case tea.KeyPressMsg:
		if e.ready {
			return e.press(msg)
		}
	case tea.PasteStartMsg:
	default:
		return e.edit(msg)
	}
	if e.ready {
		return e, nil
	}
	e.early++
	return e, e.calmed()
}

// end ends the editor.
func (e *editor) end(typed Typed) (tea.Model, tea.Cmd) {
	e.ended, e.typed = true, typed
	return e, tea.Quit
}

func (e *editor) edit(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	e.area, cmd = e.area.Update(msg)
	return e, cmd
}

// paste adds a paste to the text, if the question takes one.
func (e *editor) paste(text string) {
	switch {
	case e.ended:
	case e.asked.Decision:
		e.note = "a paste decides nothing: type the answer"
	case !FitsEditor(e.area.Value() + text):
		e.note = "the paste is too long to be edited here: put it into a file"
	default:
		e.note, e.find = "", nil
		e.area.InsertString(marked(text))
	}
}

// press handles a key.
func (e *editor) press(k tea.KeyPressMsg) (tea.Model, tea.Cmd) {
	again := e.again
	e.note, e.again = "", false
	switch {
	case e.ended:
		return e, nil
	case e.find != nil && e.searchKey(k):
		return e, nil
	}
	switch name := k.String(); name {
	case "ctrl+c":
		switch {
		case e.area.Length() > 0:
		case e.asked.Message && !again: // one key too many must not end a conversation
			e.note, e.again = "Ctrl-C again leaves, as Ctrl-D does", true
			return e, nil
		default:
			return e.end(Typed{Err: ErrInterrupted})
		}
		e.past.leave()
		e.set("")
		return e, nil
	case "ctrl+d":
		if e.area.Length() == 0 {
			return e.end(Typed{Err: io.EOF})
		}
	case "ctrl+z":
		return e, tea.Suspend
	case "enter", "ctrl+m", "kpenter":
		if e.goesOn() {
			return e, nil
		}
		return e.end(Typed{Text: e.text()})
	case "ctrl+j", "alt+enter", "shift+enter":
		if !e.asked.Decision {
			e.area.InsertString("\n")
		}
		return e, nil
	case "tab":
		if !e.asked.Decision && !e.complete() {
			e.area.InsertString(tabMark)
		}
		return e, nil
	case "ctrl+r":
		e.search()
		return e, nil
	case "up", "ctrl+p", "down", "ctrl+n":
		if e.recall(name == "up" || name == "ctrl+p") {
			return e, nil
		}
	}
	return e.edit(k)
}

// goesOn replaces a backslash before the cursor by a line feed, and reports whether there was one
// at the end of the line.
func (e *editor) goesOn() bool {
	lines := strings.Split(e.area.Value(), "\n")
	line := []rune(lines[e.area.Line()])
	if e.asked.Decision || e.area.Column() != len(line) || len(line) == 0 || line[len(line)-1] != '\\' {
		return false
	}
	e.area, _ = e.area.Update(tea.KeyPressMsg{Code: tea.KeyBackspace})
	e.area.InsertString("\n")
	return true
}

// View implements tea.Model. The last view is empty, so that the program leaves nothing behind.
func (e *editor) View() tea.View {
	if e.ended || !e.ready {
		return tea.NewView("")
	}
	lines := e.head()
	above := len(lines)
	for line := range strings.SplitSeq(e.area.View(), "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	if note := e.below(); note != "" {
		lines = append(lines, cli.ClipColumns(note, e.wide-1))
	}
	view := tea.NewView(strings.Join(lines, "\n"))
	if view.Cursor = e.area.Cursor(); view.Cursor != nil {
		view.Cursor.Y += above
	}
	return view
}

// below returns the line below the text.
func (e *editor) below() string {
	if e.find != nil {
		return e.find.line()
	}
	return e.note
}
