package agentd

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/agent/loop"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/internal/cli/markdown"
	"github.com/toolhost/toolhost/internal/cli/terminal"
	"github.com/toolhost/toolhost/tool"
)

// textDisplay shows a run to people: the text as the model writes it, and what becomes of each call: in a terminal one
// line that is overwritten until the call has ended, elsewhere a line as it begins and one as it ends.
type textDisplay struct {
	out    io.Writer
	color  bool
	block  *terminal.Block      // where the calls under way stand; nil: nowhere
	prose  *markdown.Stream     // renders what the model writes; nil: it is shown as it is
	spin   string               // the frame of the animation while the run works; empty: none
	story  bool                 // what the user said, and how the run began and ended, is shown too
	inLine bool                 // the last line is not ended
	asking bool                 // somebody asks for decisions, and shows them
	shown  string               // of the current response
	calls  map[string]*callCard // under way
	order  []*callCard          // the same, in the order in which they came
	wanted map[string]string    // the calls that wait for decisions, by the decision's id
}

type callCard struct {
	tool      string
	arguments string
	begun     time.Time
	status    tool.Status // what the tool said, folded
	said      string      // how that was last shown
	live      bool        // it has a line of the block
}

// The widths, in characters, to which a call's arguments and result are cut, so that a call stays on one line.
const (
	argumentsWidth = 72
	resultWidth    = 100
)

func newTextDisplay(p cli.Process) *textDisplay {
	d := &textDisplay{out: p.Stdout, calls: make(map[string]*callCard), wanted: make(map[string]string)}
	if cli.IsTerminal(p.Stdout) {
		d.block = &terminal.Block{Size: func() (int, int) { return cli.TerminalSize(p.Stdout) }}
		d.color = p.Screen().Color
	}
	return d
}

func (d *textDisplay) show(e loop.Event) error {
	switch p := e.Payload.(type) {
	case *loop.TextDelta:
		d.shown += p.Text
		return d.text(p.Text)
	case *loop.TurnReset:
		d.reset()
		if d.prose != nil {
			d.prose.Reset() // the part of the void response that was not shown
		}
		return d.line(yellow, "↻ asking again (attempt %d): %s", p.Attempt, p.Reason)
	case *loop.AssistantMessage:
		return d.assistant(p)
	case *loop.CallStarted:
		return d.callStarted(e, p)
	case *loop.CallStatus:
		return d.status(p)
	case *loop.CallResult:
		return d.result(e, p)
	case *loop.CancelRequested:
		if p.Stop != "" { // nobody's wish, so it wants a reason
			return d.line(yellow, "■ cancelling: %s", p.Reason)
		}
		return d.line(yellow, "■ cancelling")
	case *loop.RunFinished:
		return d.finished(p)
	}
	return d.more(e)
}

// finished shows the result where it was not shown as text.
func (d *textDisplay) finished(p *loop.RunFinished) error {
	if err := d.leave(); err != nil {
		return err
	}
	if p.StopReason == loop.StopReturnDirect {
		if err := d.put(cli.Visible(p.Text)); err != nil { // a tool wrote it, so it is not Markdown
			return err
		}
	}
	if err := d.endLine(); err != nil || !d.story {
		return err
	}
	shade := green
	if !p.StopReason.Succeeded() {
		shade = red
	}
	return d.line(shade, "■ %s", ending(p))
}

// assistant shows what the deltas have not shown, and keeps the arguments of the calls that follow.
func (d *textDisplay) assistant(p *loop.AssistantMessage) error {
	if d.shown == "" {
		if err := d.text(p.Text()); err != nil {
			return err
		}
	}
	d.shown = ""
	for _, c := range p.Calls {
		d.card(c.ID, c.Tool).arguments = c.Arguments
	}
	return d.endLine()
}

// text writes what a model says.
func (d *textDisplay) text(s string) error {
	if d.prose == nil {
		return d.put(cli.Visible(s))
	}
	return d.put(d.prose.Write(s))
}

// endProse shows the rest of what the model wrote.
func (d *textDisplay) endProse() error {
	if d.prose == nil {
		return nil
	}
	return d.put(d.prose.Flush())
}

// endLine ends what the model wrote, and the line that was begun, if one was.
func (d *textDisplay) endLine() error {
	if err := d.endProse(); err != nil {
		return err
	}
	if !d.inLine {
		return nil
	}
	return d.put("\n")
}

// put writes what stays on the screen.
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

// The colors, as a terminal wants them.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
)

// line ends the line that was begun, and writes text as one line, with the escapes of cli.OneLine.
func (d *textDisplay) line(color, format string, args ...any) error {
	if err := d.endLine(); err != nil {
		return err
	}
	return d.put(d.shaded(color, strings.TrimRight(cli.OneLine(fmt.Sprintf(format, args...)), " ")) + "\n")
}

func (d *textDisplay) shaded(color, s string) string {
	if !d.color {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

// duration is rounded to what people care about.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return max(d.Round(time.Millisecond), time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// card returns what is known of a call.
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
