package commands

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// This file contains the part of textDisplay that shows calls.

// reset removes the text of a response, and the calls in it, because the model writes the response
// again.
func (d *textDisplay) reset() {
	d.shown = ""
	for id, card := range d.calls {
		if card.begun.IsZero() && card.arguments == "" {
			d.forget(id)
		}
	}
}

func (d *textDisplay) callStarted(e client.RunEvent, p *client.CallStarted) error {
	card := d.card(p.CallID, p.Tool)
	card.begun = e.Time
	if d.block != nil {
		card.live, card.shown = true, ""
		return d.refresh()
	}
	shown := cli.OneLine(card.arguments)
	if d.story && cli.Clip(shown, argumentsWidth) != shown {
		return d.wholeArguments(p.Tool, card.arguments)
	}
	return d.line(dim, "→ %s %s", p.Tool, cli.Clip(shown, argumentsWidth))
}

// status shows the status of a call. In a terminal, it replaces the status before. Elsewhere, it
// prints each new message.
func (d *textDisplay) status(p *client.CallStatus) error {
	card := d.card(p.CallID, p.Tool)
	card.status = card.status.Fold(p.Status)
	words := card.status.Message
	if d.block != nil {
		words = strings.TrimSpace(progress(card.status.Progress) + " " + words)
	}
	if words == "" || words == card.shown {
		return nil
	}
	card.shown = words
	if d.block != nil {
		card.live = true
		return d.refresh()
	}
	return d.line(dim, "  %s: %s", p.Tool, cli.Clip(cli.OneLine(words), resultWidth))
}

// progress returns the progress of a call for people.
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

// cards returns the lines of the running calls, and of what the person types meanwhile.
func (d *textDisplay) cards() []string {
	var lines []string
	wide, _ := d.block.Size()
	for _, card := range d.order {
		if !card.live {
			continue
		}
		words := card.shown
		if words == "" {
			words = card.arguments
		}
		mark := cmp.Or(d.spin, "→")
		lines = append(lines, d.colors.shaded(dim, cli.Clip(cli.OneLine(mark+" "+card.tool+" "+words), wide-1)))
	}
	if len(lines) == 0 && d.spin != "" {
		lines = append(lines, d.colors.shaded(dim, d.spin+" working"))
	}
	return append(lines, d.ahead.Lines(wide)...)
}

// refresh draws the lines of the running calls again, if they have changed.
func (d *textDisplay) refresh() error {
	if d.block == nil || d.block.Hidden || slices.Equal(d.cards(), d.block.Drawn) {
		return nil
	}
	if d.inLine {
		if err := d.put("\n"); err != nil {
			return err
		}
	}
	_, err := io.WriteString(d.out, d.block.Above("", d.cards(), false))
	return err
}

// typedAhead shows what the person types, unless the model has not ended its line.
func (d *textDisplay) typedAhead() error {
	if d.inLine {
		return nil
	}
	return d.refresh()
}

// hide removes the lines of the running calls until the caller calls reveal.
func (d *textDisplay) hide() error {
	if d.block == nil {
		return nil
	}
	d.block.Hidden = true
	_, err := io.WriteString(d.out, d.block.Erase())
	return err
}

func (d *textDisplay) reveal() {
	if d.block != nil {
		d.block.Hidden = false
	}
}

// leave forgets the running calls, because the display no longer follows the run.
func (d *textDisplay) leave() error {
	clear(d.calls)
	d.order = nil
	if d.block == nil {
		return nil
	}
	_, err := io.WriteString(d.out, d.block.Erase())
	return err
}
