package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/toolhost/toolhost/internal/agent"
	"github.com/toolhost/toolhost/internal/cli"
)

// textDisplay shows a run to people: the text as the model writes it, and a line for each call as it begins and ends.
type textDisplay struct {
	out    io.Writer
	color  bool
	inLine bool                 // the last line is not ended
	shown  string               // of the current response
	calls  map[string]*callCard // under way
}

type callCard struct {
	arguments string
	begun     time.Time
	tip       string // what the tool said last
}

// The widths, in characters, to which a call's arguments and result are cut, so that a call stays on one line.
const (
	argumentsWidth = 72
	resultWidth    = 100
)

func newTextDisplay(p cli.Process) *textDisplay {
	return &textDisplay{out: p.Stdout, color: isTerminal(p.Stdout) && p.Getenv("NO_COLOR") == "", calls: make(map[string]*callCard)}
}

// isTerminal reports whether somebody may be looking at w right now.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
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
		if p.StopReason == agent.StopReturnDirect {
			if err := d.text(p.Text); err != nil {
				return err
			}
		}
		return d.endLine()
	}
	return nil
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

func (d *textDisplay) status(p *agent.CallStatus) error {
	card := d.card(p.CallID)
	tip := p.Status.Tip
	if tip == "" || tip == card.tip {
		return nil
	}
	card.tip = tip
	return d.line(dim, "  %s: %s", p.Tool, cli.Clip(cli.OneLine(tip), resultWidth))
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
	d.inLine = !strings.HasSuffix(s, "\n")
	_, err := io.WriteString(d.out, s)
	return err
}

func (d *textDisplay) endLine() error {
	if !d.inLine {
		return nil
	}
	d.inLine = false
	_, err := io.WriteString(d.out, "\n")
	return err
}

// The colors, as a terminal wants them.
const (
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
	s := strings.TrimRight(fmt.Sprintf(format, args...), " ")
	if d.color {
		s = "\x1b[" + color + "m" + s + "\x1b[0m"
	}
	_, err := fmt.Fprintln(d.out, s)
	return err
}
