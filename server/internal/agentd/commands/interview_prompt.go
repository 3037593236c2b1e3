package commands

import (
	"fmt"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/form"
)

// takeBack removes the question that was settled elsewhere.
func (v *interview) takeBack() error {
	if v.console.Edits() {
		v.console.Withdraw()
		return nil
	}
	return v.console.Say("\n")
}

// question asks the question about the first open decision.
func (v *interview) question() error {
	v.editing, v.choosing, v.chosen, v.rejecting = false, false, nil, false
	d := &v.open[0]
	text := prompt(d.Kind)
	if d.Kind == client.DecideApproval && len(d.StandingOffers) > 0 {
		text = promptStanding
	}
	if v.held {
		text = promptHeld
	}
	if d.Kind == client.DecideTool {
		text = promptAnswer(form.Fields(d.Schema), len(v.filled))
	}
	return v.console.Ask(terminal.Question{Prompt: text, Decision: d.Kind != client.DecideQuestion && d.Kind != client.DecideTool})
}

// back returns from a question that belongs to an answer, such as that for edited arguments, and
// reports whether there was one.
func (v *interview) back() (bool, error) {
	if !v.editing && !v.choosing && !v.rejecting {
		return false, nil
	}
	return true, v.question()
}

// prompt returns the question for people.
func prompt(kind client.DecisionKind) string {
	switch kind {
	case client.DecideApproval:
		return "  allow it? [y]es, [n]o, [e]dit the arguments, or say why not: "
	case client.DecideQuestion:
		return "  your answer (empty: none): "
	case client.DecideOutcome:
		return "  [y] make it once more, [n] leave it open, or say how it ended: "
	}
	return "  [y] go on, [n] end the run, or say how to go on: "
}

// promptAnswer returns the question for the answer that a tool wants, or for the next of its
// fields. It says how to decline: an empty line may be an answer.
func promptAnswer(fields []form.Field, filled int) string {
	switch {
	case filled > 0:
		return "  " + cli.OneLine(fields[filled].Prompt()) + ": "
	case len(fields) == 0:
		return "  your answer (empty: you decline): "
	}
	how, which := "empty", ""
	if fields[0].TakesEmpty() {
		how = form.DeclineWord
	}
	if len(fields) > 1 {
		which = " for " + cli.OneLine(fields[0].Name)
	}
	return fmt.Sprintf("  your answer%s (%s: you decline): ", which, how)
}

const (
	promptStanding = "  allow it? [y]es once, for this [r]un, [l]ater calls too, [e]dit the arguments, [n]o, or say why not: "
	promptHeld     = "  allow it? [y]es, [n]o, or say why not: "
	promptReason   = "  why not (empty: no reason): "
	promptEdit     = "  the arguments as JSON (empty: back): "
	promptAgain    = "  [e]dit them again (empty: back): "
)
