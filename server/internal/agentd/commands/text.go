package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/markdown"
	"github.com/toolhost/toolhost/server/internal/terminal"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// textDisplay shows a run to people: the text of the model, and the calls. In a terminal, a call
// has one line that changes until the call has ended. Elsewhere, a call has a line at its begin and
// one at its end.
type textDisplay struct {
	out    io.Writer
	colors colors
	// the lines of the running calls; nil if the output is not a terminal
	block *terminal.Block
	// renders the model's text; nil means that the text is shown unchanged
	prose *markdown.Stream
	// escapes the model's text if prose is nil, and writes it to ready
	plain      *cli.Printer
	ready      *strings.Builder
	ahead      *terminal.Ahead      // what the person types meanwhile; nil: nothing is shown of it
	spin       string               // the frame of the animation; empty means none
	story      bool                 // also show the user's messages, and how the run began and ended
	inLine     bool                 // the last line is not complete
	opens      bool                 // the person can open whole results with /result
	lastResult uint64               // the sequence number of the last result
	asking     bool                 // an interview asks for decisions and shows them
	think      bool                 // also show the model's reasoning
	dimmed     bool                 // the last output is reasoning
	shown      string               // the text of the current response
	said       string               // the text of the last complete response
	calls      map[string]*callCard // the running calls by id
	order      []*callCard          // the running calls in the order of their begin
	wanted     map[string]string    // the calls that wait for decisions, by the id of the decision
	// the later calls that were approved too, by the id of the decision, until toolhost has them
	standing map[string]*client.StandingChoice
}

type callCard struct {
	tool      string
	arguments string
	begun     time.Time
	status    tool.Status // the merged status of the tool
	shown     string      // the status on the screen
	live      bool        // the call has a line in the block
	asked     bool        // a person was asked about the call, and has seen its arguments
}

// The number of characters of a call's arguments and result, so that a call fits one line.
const (
	argumentsWidth = 72
	resultWidth    = 100
)

func newTextDisplay(p cli.Process) *textDisplay {
	ready := &strings.Builder{}
	d := &textDisplay{
		out: p.Stdout, plain: cli.NewPrinter(ready), ready: ready, calls: make(map[string]*callCard), wanted: make(map[string]string),
		standing: make(map[string]*client.StandingChoice),
	}
	if cli.IsTerminal(p.Stdout) {
		d.block = &terminal.Block{Size: func() (int, int) { return cli.TerminalSize(p.Stdout) }}
		d.colors = colors(p.Screen().Color)
	}
	return d
}

func (d *textDisplay) show(e client.RunEvent) error {
	switch p := e.Payload.(type) {
	case *client.TextDelta:
		d.shown += p.Text
		return d.text(p.Text)
	case *client.ReasoningDelta:
		return d.reasoning(p.Text)
	case *client.TurnReset:
		d.reset()
		if d.prose != nil {
			d.prose.Reset() // the text that the model repeats
		}
		return d.line(yellow, "↻ asking again (attempt %d): %s", p.Attempt, p.Reason)
	case *client.AssistantMessage:
		return d.assistant(p)
	case *client.CallStarted:
		return d.callStarted(e, p)
	case *client.CallStatus:
		return d.status(p)
	case *client.CallResult:
		return d.result(e, p)
	case *client.CancelRequested:
		if p.StopReason != "" { // no user requested it, so the display shows the reason
			return d.line(yellow, "■ cancelling: %s", p.Reason)
		}
		return d.line(yellow, "■ cancelling")
	case *client.RunEnded:
		return d.finished(p)
	}
	return d.more(e)
}

// finished shows the result of a run, unless it was shown as text.
func (d *textDisplay) finished(p *client.RunEnded) error {
	if err := d.leave(); err != nil {
		return err
	}
	if p.StopReason == client.StopReason(loop.StopReturnDirect) {
		if err := d.put(cli.Visible(p.Text)); err != nil { // a tool wrote it, so it is not Markdown
			return err
		}
	}
	if err := d.answer(p.Result); err != nil {
		return err
	}
	if err := d.endLine(); err != nil || !d.story {
		return err
	}
	shade := green
	if exitCode(p.StopReason) != cli.ExitOK {
		shade = red
	}
	return d.line(shade, "■ %s", ending(p))
}

// assistant shows the text that no delta contained, and keeps the arguments of the calls.
func (d *textDisplay) assistant(p *client.AssistantMessage) error {
	if d.shown == "" {
		if err := d.text(p.Text); err != nil {
			return err
		}
	}
	d.shown, d.said = "", p.Text
	for _, c := range p.Calls {
		d.card(c.CallID, c.Tool).arguments = string(c.Arguments)
	}
	return d.endLine()
}

// answer shows the answer of a run with a response schema, unless it was shown as text.
func (d *textDisplay) answer(result json.RawMessage) error {
	var said, pretty bytes.Buffer
	if len(result) == 0 || json.Compact(&said, []byte(d.said)) == nil && bytes.Equal(said.Bytes(), result) {
		return nil
	}
	if err := json.Indent(&pretty, result, "", "  "); err != nil {
		return err
	}
	if err := d.endLine(); err != nil {
		return err
	}
	return d.put(cli.Visible(pretty.String()))
}

// reasoning shows a piece of the model's reasoning on lines of its own.
func (d *textDisplay) reasoning(s string) error {
	if !d.think {
		return nil
	}
	if !d.dimmed {
		if err := d.endLine(); err != nil {
			return err
		}
		d.dimmed = true
	}
	shown := d.escape(s)
	body := strings.TrimRight(shown, "\n")
	if body != "" {
		body = d.colors.shaded(dim, body)
	}
	return d.put(body + shown[len(strings.TrimRight(shown, "\n")):])
}

// escape returns text of the model without control characters that could change the terminal.
func (d *textDisplay) escape(s string) string {
	_, _ = io.WriteString(d.plain, s) // a strings.Builder never fails
	shown := d.ready.String()
	d.ready.Reset()
	return shown
}

// text shows text of the model.
func (d *textDisplay) text(s string) error {
	if d.dimmed {
		if err := d.endLine(); err != nil {
			return err
		}
	}
	if d.prose != nil {
		if d.block != nil { // the person may have changed the size
			d.prose.Screen.Columns, _ = d.block.Size()
		}
		return d.put(d.prose.Write(s))
	}
	return d.put(d.escape(s))
}

// endProse shows the rest of the model's text.
func (d *textDisplay) endProse() error {
	if d.prose == nil {
		return nil
	}
	return d.put(d.prose.Flush())
}

// endLine shows the rest of the model's text, and completes the last line.
func (d *textDisplay) endLine() error {
	if err := d.endProse(); err != nil {
		return err
	}
	d.dimmed = false
	if !d.inLine {
		return nil
	}
	return d.put("\n")
}

// put writes output above the block.
func (d *textDisplay) put(s string) error {
	if s == "" {
		return nil
	}
	d.inLine = !strings.HasSuffix(s, "\n")
	if d.block != nil {
		s = d.block.Above(s, d.cards(), d.inLine)
	}
	_, err := io.WriteString(d.out, s)
	return err
}

// Colors, as parameters of control sequences.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
)

// line completes the last line, and writes text as one line, escaped as cli.OneLine does it. In a
// terminal, a line that is too long goes on below between two words, after the same indentation and
// the same mark.
func (d *textDisplay) line(color, format string, args ...any) error {
	if err := d.endLine(); err != nil {
		return err
	}
	text := strings.TrimRight(cli.OneLine(fmt.Sprintf(format, args...)), " ")
	var shown strings.Builder
	for _, part := range d.folded(text) {
		shown.WriteString(d.colors.shaded(color, part) + "\n")
	}
	return d.put(shown.String())
}

// command is line for a text with a command, which a person copies as one line.
func (d *textDisplay) command(color, format string, args ...any) error {
	if err := d.endLine(); err != nil {
		return err
	}
	return d.put(d.colors.shaded(color, cli.OneLine(fmt.Sprintf(format, args...))) + "\n")
}

// folded returns the lines of a text of one line in the terminal.
func (d *textDisplay) folded(text string) []string {
	wide := 0
	if d.block != nil {
		wide, _ = d.block.Size()
	}
	if cli.Columns(text) <= wide || wide == 0 {
		return []string{text}
	}
	rest := strings.TrimLeft(text, " ")
	begin := text[:len(text)-len(rest)]
	further := begin + "  "
	if marked, ok := strings.CutPrefix(rest, "│ "); ok { // what is behind the mark may not leave it
		begin += "│ "
		rest, further = marked, begin
	}
	const least = 10 // columns for text, however narrow the terminal is
	lines := cli.Wrap(rest, max(wide-cli.Columns(further), least))
	for i := range lines {
		if lines[i] = further + lines[i]; i == 0 {
			lines[i] = begin + lines[i][len(further):]
		}
	}
	return lines
}

// colors says whether a text may have colors.
type colors bool

// shaded returns a text in a color, which is the parameter of a control sequence.
func (c colors) shaded(color, s string) string {
	if !c {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

// duration returns a duration, rounded for people.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return max(d.Round(time.Millisecond), time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// card returns the card of a call, and adds one if there is none.
func (d *textDisplay) card(callID, name string) *callCard {
	card := d.calls[callID]
	if card == nil {
		card = &callCard{tool: name}
		d.calls[callID] = card
		d.order = append(d.order, card)
	}
	return card
}

func (d *textDisplay) forget(callID string) {
	card := d.calls[callID]
	delete(d.calls, callID)
	d.order = slices.DeleteFunc(d.order, func(c *callCard) bool { return c == card })
}
