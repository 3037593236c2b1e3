package agentd

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/agent/loop"
	"github.com/toolhost/toolhost/internal/cli"
)

// more shows an event that few runs have, or that only a story shows.
func (d *textDisplay) more(e loop.Event) error {
	switch p := e.Payload.(type) {
	case *loop.RunStarted:
		return d.said(p.Prompt)
	case *loop.UserMessage:
		return d.said(p.Text)
	case *loop.DecisionRequested:
		return d.requested(p)
	case *loop.DecisionMade:
		return d.decided(p)
	case *loop.BudgetWarning:
		return d.line(yellow, "! %s", budget(p))
	case *loop.ContextChange:
		for _, key := range slices.Sorted(maps.Keys(p.Refused)) {
			if err := d.line(yellow, "! the context's %s was not changed: %s", cli.OneLine(key), cli.OneLine(p.Refused[key])); err != nil {
				return err
			}
		}
	case *loop.RunResumed:
		return d.line(dim, "↺ the run goes on after agentd was away")
	case *loop.TodoChange:
		return d.line(dim, "☐ %s", cli.Clip(cli.OneLine(string(p.Todos)), resultWidth))
	case *loop.SubRunStarted:
		return d.line(dim, "↳ %s: %s", p.RunID, cli.Clip(cli.OneLine(p.Prompt), argumentsWidth))
	case *loop.Compacted:
		if p.Failure != "" {
			return d.line(yellow, "! %s", p.Failure)
		}
		return d.line(dim, "≈ the conversation was made smaller: %d results cleared, %d messages summed up", len(p.Cleared), p.Replaced)
	}
	return nil
}

// said prints a message of the user, if the display is that of `agentd show`.
func (d *textDisplay) said(text string) error {
	if !d.story {
		return nil
	}
	if err := d.endLine(); err != nil {
		return err
	}
	for line := range strings.Lines(strings.TrimSpace(text)) {
		if err := d.line(bold, "› %s", cli.OneLine(strings.TrimRight(line, "\r\n"))); err != nil {
			return err
		}
	}
	return nil
}

// requested records that a decision is open, and shows it, unless an interview asks for it.
func (d *textDisplay) requested(p *loop.DecisionRequested) error {
	open := loop.Pending{DecisionRequested: *p}
	if card := d.calls[p.CallID]; card != nil {
		d.wanted[p.ID] = p.CallID
		if len(p.Final) > 0 { // after toolhost's repair and defaults
			card.arguments = string(p.Final)
		}
		open.Arguments = card.arguments
		card.said = "waits for " + p.ID
		if p.Kind == loop.DecideApproval {
			card.begun = time.Time{} // toolhost refused the call, so it has not begun
		}
	}
	if d.asking {
		return d.refresh()
	}
	return d.decision(&open, 1)
}

// titled returns the tool's name, and the display name in quotes after it. The plugin chooses the
// display name, so it never appears alone.
func titled(p *loop.Pending) string {
	if p.DisplayName == "" || p.DisplayName == p.Tool {
		return p.Tool
	}
	return fmt.Sprintf("%s %q", p.Tool, p.DisplayName)
}

// decision shows an open decision. open is the number of open decisions with this one.
func (d *textDisplay) decision(p *loop.Pending, open int) error {
	what := map[loop.DecisionKind]string{
		loop.DecideApproval: "? " + titled(p) + " needs approval",
		loop.DecideQuestion: "? the model asks",
		loop.DecideOutcome:  "? the outcome of " + p.Tool + " is unknown",
		loop.DecidePause:    "? the run got stuck",
	}[p.Kind]
	head := fmt.Sprintf("%s (%s", cli.OneLine(what), p.ID)
	if open > 1 {
		head += fmt.Sprintf(", and %d more wait", open-1)
	}
	lines := []string{head + "): " + cli.OneLine(p.Reason)}
	if p.Rule != "" {
		lines = append(lines, "  rule: "+cli.OneLine(p.Rule))
	}
	if p.Kind == loop.DecideApproval || p.Kind == loop.DecideOutcome {
		// not clipped, because the person approves all of them
		lines = append(lines, fmt.Sprintf("  %s %s", p.Tool, cli.OneLine(p.Arguments)))
	}
	for i, option := range p.Options {
		lines = append(lines, fmt.Sprintf("  %d) %s", i+1, cli.OneLine(option)))
	}
	for _, l := range lines {
		if err := d.line(yellow, "%s", l); err != nil {
			return err
		}
	}
	return nil
}

func (d *textDisplay) decided(p *loop.DecisionMade) error {
	if card := d.calls[d.wanted[p.ID]]; card != nil {
		card.said = ""
		if len(p.Arguments) > 0 {
			card.arguments = string(p.Arguments)
		}
	}
	delete(d.wanted, p.ID)
	by, text := "", cli.Clip(cli.OneLine(p.Text), resultWidth)
	if p.By != "" {
		by = " by " + cli.OneLine(p.By)
	}
	if text != "" {
		text = ": " + text
	}
	switch p.Verdict {
	case loop.VerdictApprove:
		if len(p.Arguments) > 0 {
			text += " with " + cli.OneLine(string(p.Arguments))
		}
		return d.line(green, "✓ %s approved%s%s", p.ID, by, text)
	case loop.VerdictAnswer:
		return d.line(green, "✓ %s answered%s%s", p.ID, by, text)
	case loop.VerdictExpired:
		return d.line(red, "✗ %s expired: no response in time", p.ID)
	}
	return d.line(red, "✗ %s rejected%s%s", p.ID, by, text)
}

// budget returns how much of a budget is used.
func budget(p *loop.BudgetWarning) string {
	used, limit := fmt.Sprintf("%.4g", p.Used), fmt.Sprintf("%.4g", p.Limit)
	switch p.Budget {
	case loop.BudgetWallTime:
		seconds := func(f float64) string { return duration(time.Duration(f * float64(time.Second))) }
		used, limit = seconds(p.Used), seconds(p.Limit)
	case loop.BudgetOutput:
		used, limit = cli.Size(uint64(p.Used)), cli.Size(uint64(p.Limit))
	}
	return fmt.Sprintf("much of a budget is used: %s of %s, %s", used, limit, strings.ReplaceAll(string(p.Budget), "_", " "))
}
