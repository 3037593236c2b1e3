package main

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/toolhost/toolhost/internal/agent"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/tool"
)

// textDisplay shows a run to people: the text as the model writes it, and a line for each call as it begins and ends.
type textDisplay struct {
	out    io.Writer
	color  bool
	wide   int                  // of the terminal, in characters; 0: it is none
	story  bool                 // what the user said, and how the run began and ended, is shown too
	inLine bool                 // the last line is not ended
	asking bool                 // somebody asks for decisions, and shows them
	live   bool                 // the last line is a status, which gives way to whatever comes next
	shown  string               // of the current response
	calls  map[string]*callCard // under way
}

type callCard struct {
	arguments string
	begun     time.Time
	status    tool.Status // what the tool said, folded
	said      string      // how that was last shown
}

// The widths, in characters, to which a call's arguments and result are cut, so that a call stays on one line.
const (
	argumentsWidth = 72
	resultWidth    = 100
)

func newTextDisplay(p cli.Process) *textDisplay {
	wide := width(p.Stdout)
	return &textDisplay{out: p.Stdout, wide: wide, color: wide > 0 && p.Getenv("NO_COLOR") == "", calls: make(map[string]*callCard)}
}

func (d *textDisplay) show(e agent.Event) error {
	switch p := e.Payload.(type) {
	case *agent.TextDelta:
		d.shown += p.Text
		return d.text(p.Text)
	case *agent.TurnReset:
		d.shown = ""
		return d.line(yellow, "↻ asking again (attempt %d): %s", p.Attempt, p.Reason)
	case *agent.AssistantMessage:
		return d.assistant(p)
	case *agent.CallStarted:
		return d.callStarted(e, p)
	case *agent.CallStatus:
		return d.status(p)
	case *agent.CallResult:
		return d.result(e, p)
	case *agent.CancelRequested:
		return d.line(yellow, "■ cancelling")
	case *agent.RunFinished:
		return d.finished(p)
	}
	return d.more(e)
}

// finished shows the result where it was not shown as text.
func (d *textDisplay) finished(p *agent.RunFinished) error {
	if p.StopReason == agent.StopReturnDirect && !d.story {
		if err := d.text(p.Text); err != nil {
			return err
		}
	}
	if err := d.endLine(); err != nil || !d.story {
		return err
	}
	shade := green
	if !p.StopReason.Well() {
		shade = red
	}
	return d.line(shade, "■ %s", ending(p))
}

// assistant shows what the deltas have not shown, and keeps the arguments of the calls that follow.
func (d *textDisplay) assistant(p *agent.AssistantMessage) error {
	if d.shown == "" {
		if err := d.text(p.Text()); err != nil {
			return err
		}
	}
	d.shown = ""
	for _, c := range p.Calls {
		d.calls[c.ID] = &callCard{arguments: c.Arguments}
	}
	return d.endLine()
}

func (d *textDisplay) callStarted(e agent.Event, p *agent.CallStarted) error {
	card := d.card(p.CallID)
	card.begun = e.Time
	return d.line(dim, "→ %s %s", p.Tool, cli.Clip(cli.OneLine(card.arguments), argumentsWidth))
}

// status shows what a tool says of its call. In a terminal that is one line which gives way to the next; elsewhere only
// new tips are shown.
func (d *textDisplay) status(p *agent.CallStatus) error {
	card := d.card(p.CallID)
	card.status = card.status.Fold(p.Status)
	words := card.status.Tip
	if d.wide > 0 {
		words = strings.TrimSpace(progress(card.status.Progress) + " " + words)
	}
	if words == "" || words == card.said {
		return nil
	}
	card.said = words
	if d.wide == 0 {
		return d.line(dim, "  %s: %s", p.Tool, cli.Clip(cli.OneLine(words), resultWidth))
	}
	return d.liveLine(fmt.Sprintf("  %s: %s", p.Tool, words))
}

// progress returns how far a call is, as people read it.
func progress(p *tool.Progress) string {
	switch {
	case p == nil:
		return ""
	case p.Total > 0:
		const cells = 10
		part := min(1, max(0, p.Done/p.Total))
		full := int(part * cells)
		return strings.TrimSpace(fmt.Sprintf("%s%s %3.0f%% %s", strings.Repeat("█", full), strings.Repeat("░", cells-full), 100*part, p.Message))
	}
	return strings.TrimSpace(fmt.Sprintf("%g %s", p.Done, p.Message))
}

func (d *textDisplay) result(e agent.Event, p *agent.CallResult) error {
	card := d.card(p.CallID)
	delete(d.calls, p.CallID)
	took := "not made"
	if !card.begun.IsZero() {
		took = duration(e.Time.Sub(card.begun))
	}
	mark, shade := "✓", green
	if p.Result.IsError {
		mark, shade = "✗", red
	}
	return d.line(shade, "%s %s (%s) %s", mark, p.Tool, took, cli.OneLine(cli.Clip(p.Result.Text(), resultWidth)))
}

func (d *textDisplay) card(callID string) *callCard {
	card := d.calls[callID]
	if card == nil {
		card = new(callCard)
		d.calls[callID] = card
	}
	return card
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

// text writes what a model says. Control characters are left out: they could steer a terminal.
func (d *textDisplay) text(s string) error {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
	if s == "" {
		return nil
	}
	if d.live {
		if err := d.endLine(); err != nil {
			return err
		}
	}
	d.inLine = !strings.HasSuffix(s, "\n")
	_, err := io.WriteString(d.out, s)
	return err
}

// endLine ends the line that was begun, if one was, and takes a status away.
func (d *textDisplay) endLine() error {
	end := "\n"
	if d.live {
		end = eraseLine
	}
	if !d.inLine && !d.live {
		return nil
	}
	d.inLine, d.live = false, false
	_, err := io.WriteString(d.out, end)
	return err
}

// eraseLine takes what stands on the terminal's line away.
const eraseLine = "\r\x1b[K"

// liveLine writes a line that the next one takes away.
func (d *textDisplay) liveLine(s string) error {
	if err := d.endLine(); err != nil {
		return err
	}
	d.live = true
	_, err := io.WriteString(d.out, d.shaded(dim, cli.Clip(cli.OneLine(s), d.wide-1)))
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

// line writes a line of its own.
func (d *textDisplay) line(color, format string, args ...any) error {
	if err := d.endLine(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(d.out, d.shaded(color, strings.TrimRight(fmt.Sprintf(format, args...), " ")))
	return err
}

func (d *textDisplay) shaded(color, s string) string {
	if !d.color {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}
