package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/form"
)

// more shows an event that few runs have, or that only a story shows.
func (d *textDisplay) more(e client.RunEvent) error {
	switch p := e.Payload.(type) {
	case *client.RunStarted:
		return errors.Join(d.memory(p.MemoryFiles), d.userText(p.Prompt, p.Attachments))
	case *client.UserMessage:
		return d.userText(p.Text, p.Attachments)
	case *client.DecisionRequested:
		return d.requested(p)
	case *client.DecisionMade:
		return d.decided(p)
	case *client.StandingApproved:
		return d.standingApproved(p)
	case *client.DecisionExtended:
		return d.line(dim, "… %s waits until %s", p.ID, p.Expires.Local().Format("2006-01-02 15:04"))
	case *client.BudgetWarning:
		return d.line(yellow, "! %s", budget(p))
	case *client.ContextChange:
		for _, key := range slices.Sorted(maps.Keys(p.Refused)) {
			if err := d.line(yellow, "! the context's %s was not changed: %s", cli.OneLine(key), cli.OneLine(p.Refused[key])); err != nil {
				return err
			}
		}
	case *client.RunResumed:
		if !p.Backup.IsZero() {
			return d.line(dim, "↺ restored from the backup of %s; calls from after it may have been made already", p.Backup.Format(time.RFC3339))
		}
		return d.line(dim, "↺ the run goes on after agentd was away")
	case *client.TodoChange:
		return d.todos(p.Todos)
	case *client.SubRunStarted:
		whose := p.RunID
		if p.Agent != "" {
			whose += " (" + cli.OneLine(p.Agent) + ")"
		}
		return d.line(dim, "↳ %s: %s", whose, cli.Clip(cli.OneLine(p.Prompt), argumentsWidth))
	case *client.Compacted:
		if p.Failure != "" {
			return d.line(yellow, "! %s", p.Failure)
		}
		return d.line(dim, "≈ the conversation was made smaller: %d results cleared, %d messages summed up", p.ClearedResults, p.ReplacedMessages)
	}
	return nil
}

// memory prints the memory files of the workspace that were not used, and in a story all of them.
func (d *textDisplay) memory(files []client.MemoryFileInfo) error {
	for i := range files {
		f := &files[i]
		from := "operator"
		if f.Workspace {
			from = "workspace"
		}
		var err error
		switch {
		case f.Problem != "":
			err = d.line(yellow, "! the memory file %s of the workspace is not used: it %s", cli.OneLine(f.Name), cli.OneLine(f.Problem))
		case d.story:
			err = d.line(dim, "memory file %s of the %s, %d bytes", cli.OneLine(f.Name), from, f.Size)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// userText prints a message of the user, if the display is that of `agentd show`.
func (d *textDisplay) userText(text string, attached []client.AttachmentInfo) error {
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
	for i := range attached {
		if err := d.line(dim, "  + %s", attachedLine(&attached[i])); err != nil {
			return err
		}
	}
	return nil
}

// requested records that a decision is open, and shows it, unless an interview asks for it.
func (d *textDisplay) requested(p *client.DecisionRequested) error {
	open := p.Decision
	if card := d.calls[open.CallID]; card != nil {
		d.wanted[open.ID], card.asked = open.CallID, true
		if len(open.Arguments) > 0 { // after toolhost's repair and defaults
			card.arguments = string(open.Arguments)
		}
		open.Arguments = json.RawMessage(card.arguments)
		card.shown = "waits for " + open.ID
		if open.Kind == client.DecideApproval {
			card.begun = time.Time{} // toolhost refused the call, so it has not begun
		}
	}
	if d.asking {
		return d.refresh()
	}
	return errors.Join(d.decision(&open, 1), d.offers(&open)) // an interview lists the offers when the person wants them
}

// titled returns the tool's name, and the display name in quotes after it. The plugin chooses the
// display name, so it never appears alone.
func titled(p *client.PendingDecision) string {
	if p.DisplayName == "" || p.DisplayName == p.Tool {
		return p.Tool
	}
	return fmt.Sprintf("%s %q", p.Tool, p.DisplayName)
}

// asker returns the plugin and the tool that ask a person.
func asker(p *client.PendingDecision) string {
	if p.Plugin == "" {
		return "the tool " + p.Tool
	}
	return fmt.Sprintf("the plugin %s (tool %s)", p.Plugin, p.Tool)
}

// decision shows an open decision. open is the number of open decisions with this one.
func (d *textDisplay) decision(p *client.PendingDecision, open int) error {
	what := map[client.DecisionKind]string{
		client.DecideApproval: "? " + titled(p) + " needs approval",
		client.DecideQuestion: "? the model asks",
		client.DecideOutcome:  "? the outcome of " + p.Tool + " is unknown",
		client.DecidePause:    "? the run got stuck",
		client.DecideTool:     "? " + asker(p) + " asks",
	}[p.Kind]
	head := fmt.Sprintf("%s (%s", cli.OneLine(what), p.ID)
	if open > 1 {
		head += fmt.Sprintf(", and %d more wait", open-1)
	}
	lines := []shownLine{{yellow, head + "): " + cli.OneLine(p.Reason)}}
	add := func(text string) { lines = append(lines, shownLine{yellow, text}) }
	if p.Rule != "" {
		add("  rule: " + cli.OneLine(p.Rule))
	}
	if p.FourEyes {
		add("  a principal other than the one that the call is for has to approve")
	}
	if len(p.ApproverGroups) > 0 {
		add("  who approves has to be in one of these groups: " + cli.OneLine(strings.Join(p.ApproverGroups, ", ")))
	}
	if p.Kind == client.DecideApproval || p.Kind == client.DecideOutcome {
		lines = append(lines, shownArguments(p)...)
	}
	if p.Kind == client.DecideTool {
		for _, f := range form.Fields(p.Schema) {
			add("  " + cli.OneLine(f.Prompt()))
		}
	}
	for i, option := range p.Options {
		add(fmt.Sprintf("  %d) %s", i+1, cli.OneLine(option)))
	}
	for _, l := range lines {
		if err := d.line(l.shade, "%s", l.text); err != nil {
			return err
		}
	}
	return d.diff(p)
}

const (
	maxDiffLines = 200 // lines of a diff; a person scrolls no further
	diffWidth    = 400 // characters of a line of a diff
)

// diff shows what a call would change. The plugin wrote the text: each line has a mark that the
// text cannot leave, and no line reaches the terminal without escapes.
func (d *textDisplay) diff(p *client.PendingDecision) error {
	if p.Diff == "" {
		return nil
	}
	if err := d.line(dim, "  the tool %s shows what would change:", p.Tool); err != nil {
		return err
	}
	n, left := 0, strings.Count(p.Diff, "\n")
	for line := range strings.Lines(p.Diff) {
		if n++; n > maxDiffLines {
			return d.line(dim, "  │ and %d more lines", left-maxDiffLines)
		}
		text := strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    ")
		if err := d.line(diffShade(line), "  │ %s", cli.Clip(cli.OneLine(text), diffWidth)); err != nil {
			return err
		}
	}
	return nil
}

// diffShade returns the color of a line of a diff.
func diffShade(line string) string {
	switch {
	case strings.HasPrefix(line, "+"):
		return green
	case strings.HasPrefix(line, "-"):
		return red
	}
	return dim
}

func (d *textDisplay) decided(p *client.DecisionMade) error {
	if card := d.calls[d.wanted[p.ID]]; card != nil {
		card.shown = ""
		if len(p.Arguments) > 0 {
			card.arguments = string(p.Arguments)
		}
	}
	delete(d.wanted, p.ID)
	by, text := "", cli.Clip(cli.OneLine(p.Text), resultWidth)
	if p.DecidedBy != "" {
		by = " by " + cli.OneLine(p.DecidedBy)
	}
	if text != "" {
		text = ": " + text
	}
	switch p.Verdict {
	case client.Approve:
		if len(p.Arguments) > 0 {
			text += " with " + cli.OneLine(string(p.Arguments))
		}
		if p.Standing != nil {
			d.standing[p.ID] = p.Standing
			text += ", and later calls: " + cli.OneLine(describeStanding(p.Standing))
		}
		return d.line(green, "✓ %s approved%s%s", p.ID, by, text)
	case client.Answer:
		return d.line(green, "✓ %s answered%s%s", p.ID, by, text)
	case client.Expired:
		return d.line(red, "✗ %s rejected: nobody decided in time", p.ID)
	}
	return d.line(red, "✗ %s rejected%s%s", p.ID, by, text)
}

// budget returns how much of a budget is used.
func budget(p *client.BudgetWarning) string {
	used, limit := fmt.Sprintf("%.4g", p.Used), fmt.Sprintf("%.4g", p.Limit)
	switch p.Budget {
	case string(loop.BudgetWallTime):
		seconds := func(f float64) string { return duration(time.Duration(f * float64(time.Second))) }
		used, limit = seconds(p.Used), seconds(p.Limit)
	case string(loop.BudgetOutput):
		used, limit = cli.Size(uint64(p.Used)), cli.Size(uint64(p.Limit))
	}
	return fmt.Sprintf("much of a budget is used: %s of %s, %s", used, limit, strings.ReplaceAll(p.Budget, "_", " "))
}
