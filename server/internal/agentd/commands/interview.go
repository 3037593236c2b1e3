package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/terminal"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/form"
)

// interview asks a person for the decisions that a run waits for, one after the other. It is for
// one goroutine.
type interview struct {
	console *terminal.Console // nil if no person is present
	show    *textDisplay
	by      string // the name of the person

	// the open decisions in the order of their requests; the first is on the screen
	open    []client.PendingDecision
	asked   string // the id of the decision whose question is on the screen
	held    bool   // toolhost holds the call, and takes no other arguments
	editing bool   // the next line is edited arguments
	editor  *argumentEditor
	draft   string // the arguments that the person edits
	// choosing says that the next line chooses which later calls are approved too, and chosen is the
	// choice that the next line confirms.
	choosing bool
	chosen   *client.StandingChoice
	// rejecting says that the next line is the reason of a rejection
	rejecting bool
	// the values of the first fields of a question of a tool
	filled []json.RawMessage
	// the id of the decision that was sent and is not in the journal yet; no question appears
	// meanwhile
	made  string
	calls map[string]json.RawMessage
}

// newInterview returns an interview without questions. If console is nil, it asks none.
func newInterview(p cli.Process, c *terminal.Console, show *textDisplay) *interview {
	show.asking = c != nil
	by := p.Getenv("USER")
	if by == "" {
		by = p.Getenv("LOGNAME")
	}
	v := &interview{console: c, show: show, by: by, calls: make(map[string]json.RawMessage)}
	if c != nil {
		v.editor = newArgumentEditor(p)
	}
	return v
}

// expect adds the decisions that a run already waits for.
func (v *interview) expect(pending []client.PendingDecision) {
	for _, d := range pending {
		v.calls[d.CallID] = d.Arguments
	}
	v.open = append(v.open, pending...)
}

// expectBelow adds the decisions that sub-runs wait for. pending may also contain decisions of the
// run itself.
func (v *interview) expectBelow(pending []client.PendingDecision) {
	has := func(list []client.PendingDecision, id string) bool {
		return slices.ContainsFunc(list, func(d client.PendingDecision) bool { return d.ID == id })
	}
	v.drop(func(d client.PendingDecision) bool { return d.RunID != "" && !has(pending, d.ID) })
	for _, d := range pending {
		if d.RunID != "" && !has(v.open, d.ID) {
			v.open = append(v.open, d)
		}
	}
}

// isBelow reports whether an open decision belongs to a sub-run.
func (v *interview) isBelow(id string) bool {
	return slices.ContainsFunc(v.open, func(d client.PendingDecision) bool { return d.ID == id && d.RunID != "" })
}

// note updates the open decisions by an event.
func (v *interview) note(e client.RunEvent) {
	switch p := e.Payload.(type) {
	case *client.AssistantMessage:
		for _, c := range p.Calls {
			v.calls[c.CallID] = c.Arguments
		}
	case *client.CallResult:
		delete(v.calls, p.CallID)
		v.drop(func(d client.PendingDecision) bool { return d.CallID == p.CallID })
	case *client.DecisionRequested:
		open := p.Decision
		if len(open.Arguments) == 0 {
			open.Arguments = v.calls[open.CallID]
		}
		v.open = append(v.open, open)
	case *client.DecisionMade:
		v.settle(p.ID)
	case *client.UserMessage:
		v.drop(func(d client.PendingDecision) bool { return d.Kind == client.DecidePause && d.RunID == "" })
	case *client.RunEnded:
		v.open = nil
	}
}

// hand records that the decision was sent. settle records that it took effect, or cannot.
func (v *interview) hand(id string) { v.made = id }

func (v *interview) settle(id string) {
	v.drop(func(d client.PendingDecision) bool { return d.ID == id })
	if v.made == id {
		v.made = ""
	}
}

func (v *interview) drop(settled func(client.PendingDecision) bool) {
	v.open = slices.DeleteFunc(v.open, settled)
}

// asking reports whether the next line that a person types is an answer.
func (v *interview) asking() bool { return v.asked != "" }

// ask shows the first question, if it is not on the screen. It removes a question that was settled
// elsewhere.
func (v *interview) ask() error {
	if v.editor.busy() {
		return nil
	}
	if len(v.open) == 0 || v.console == nil {
		if v.asked != "" {
			v.close()
			return v.takeBack()
		}
		return nil
	}
	d := &v.open[0]
	if v.asked == d.ID || v.made != "" {
		return nil
	}
	if v.asked != "" {
		if err := v.takeBack(); err != nil {
			return err
		}
	}
	v.close()
	v.asked = d.ID
	if err := v.show.hide(); err != nil {
		return err
	}
	if err := v.show.decision(d, len(v.open)); err != nil {
		return err
	}
	return v.question()
}

// close ends the question.
func (v *interview) close() {
	v.asked, v.filled, v.draft = "", nil, ""
	v.editing, v.choosing, v.chosen, v.rejecting = false, false, nil, false
	v.show.reveal()
}

// again shows the question again, after a message about the answer.
func (v *interview) again(words string) error {
	for line := range strings.Lines(words) {
		if err := v.show.line(yellow, "%s", strings.TrimRight(line, "\n")); err != nil {
			return err
		}
	}
	switch {
	case v.editing && v.editor.usable():
		return v.console.Ask(terminal.Question{Prompt: promptAgain, Decision: true})
	case v.editing && v.console.Edits():
		q, err := argumentsQuestion(v.draft)
		if err != nil {
			v.editing = false
			return v.again(fmt.Sprintf("  %v", err))
		}
		return v.console.Ask(q)
	case v.editing:
		return v.console.Ask(terminal.Question{Prompt: promptEdit})
	}
	return v.question()
}

// errNoAnswer means that a line is not a decision.
var errNoAnswer = errors.New("no decision")

// noAnswer asks again, and returns errNoAnswer or the error of asking.
func noAnswer(err error) error {
	if err != nil {
		return err
	}
	return errNoAnswer
}

// hear returns the decision that a line makes about the first question. errNoAnswer means that it
// asked the question again.
func (v *interview) hear(line string) (client.Decision, error) {
	d := &v.open[0]
	made := client.Decision{ID: d.ID}
	if word, ok := v.commandIn(line); ok {
		return made, v.obey(word)
	}
	if v.editing {
		return v.hearArguments(made, line)
	}
	if v.choosing {
		return v.hearStanding(made, line)
	}
	if v.rejecting {
		made.Verdict, made.Text = client.Reject, strings.TrimSpace(line)
		v.close()
		return made, nil
	}
	if d.Kind == client.DecideTool {
		return v.hearAnswer(made, line)
	}
	text := strings.TrimSpace(line)
	word := strings.ToLower(text)
	switch {
	case d.Kind == client.DecideQuestion:
		answer, err := option(d.Options, line)
		if err != nil {
			return made, noAnswer(v.again(fmt.Sprintf("  %v", err)))
		}
		made.Verdict, made.Text = client.Answer, answer
		if text == "" {
			made.Verdict = client.Reject
		}
	case word == "":
		return made, noAnswer(v.again("Nothing happens before you decide."))
	case word == "y" || word == "yes":
		made.Verdict = client.Approve
	case d.Kind == client.DecideApproval && v.console.Edits() && (word == "n" || word == "no"):
		v.rejecting = true
		return made, noAnswer(v.console.Ask(terminal.Question{Prompt: promptReason}))
	case word == "n" || word == "no":
		made.Verdict = client.Reject
	case d.Kind == client.DecideApproval && len(d.StandingOffers) > 0 && (word == "r" || word == "run"):
		return made, noAnswer(v.askRun())
	case d.Kind == client.DecideApproval && len(d.StandingOffers) > 0 && (word == "l" || word == "later"):
		v.choosing, v.chosen = true, nil
		return made, noAnswer(v.askStanding(""))
	case v.held && (word == "e" || word == "edit"):
		return made, noAnswer(v.again("The arguments are those of the caller: approve the call as it is, or reject it."))
	case d.Kind == client.DecideApproval && (word == "e" || word == "edit"):
		v.editing, v.draft = true, prefilled(string(d.Arguments))
		if v.editor.usable() {
			v.editor.begin(v.draft)
			return made, errNoAnswer
		}
		words := "  now: " + cli.OneLine(string(d.Arguments))
		if v.console.Edits() {
			words = "" // the editor has them
		}
		return made, noAnswer(v.again(words))
	case d.Kind == client.DecideApproval:
		made.Verdict, made.Text = client.Reject, text
	case d.Kind == client.DecideOutcome:
		made.Verdict, made.Text = client.Answer, text
	default:
		made.Verdict, made.Text = client.Approve, text
	}
	v.close()
	return made, nil
}

// commandIn returns the command that a line is: one that begins with a slash is none of the
// answers, because a person who looks for help must not decide with it. An answer in words may
// begin with a slash, such as a path, so only the commands of here are commands there.
func (v *interview) commandIn(line string) (word string, ok bool) {
	word, _, _ = strings.Cut(strings.TrimRight(line, " \t\n"), " ")
	known := word == "/help" || word == "/?" || word == "/quit" || word == "/exit"
	switch v.open[0].Kind {
	case client.DecideQuestion, client.DecideTool, client.DecideOutcome:
		return word, known
	}
	return word, known || slashCommand.MatchString(word)
}

// obey executes a command that was typed at a question. It decides nothing: it asks again, or
// leaves.
func (v *interview) obey(word string) error {
	switch word {
	case "/quit", "/exit":
		return errors.Join(errLeft, v.takeBack())
	case "/help", "/?":
		return noAnswer(v.again("Nothing is decided. The line below says what you can answer; /quit leaves the question open.\nAn answer that begins with a slash: type a space before it."))
	}
	return noAnswer(v.again(fmt.Sprintf("Nothing is decided: there is no command %s here. /help helps, /quit leaves the question open.", cli.OneLine(word))))
}

// hearAnswer returns the answer to a question of a tool. If the question has several fields, each
// line is the value of the next one. form.DeclineWord declines, and so does an empty line at the
// first field if that needs a value.
func (v *interview) hearAnswer(made client.Decision, line string) (client.Decision, error) {
	schema := v.open[0].Schema
	fields := form.Fields(schema)
	text := strings.TrimSpace(line)
	made.Verdict, made.Text = client.Answer, text
	switch {
	case text == form.DeclineWord, text == "" && len(v.filled) == 0 && (len(fields) == 0 || !fields[0].TakesEmpty()):
		made.Verdict, made.Text = client.Reject, ""
	case len(fields) == 0, len(v.filled) == 0 && strings.HasPrefix(text, "{"):
		if _, err := loop.AnswerContent(schema, text); err != nil {
			return made, noAnswer(v.again("  That is no JSON object."))
		}
	default:
		field := fields[len(v.filled)]
		value, err := field.Value(line)
		if err != nil {
			return made, noAnswer(v.again(fmt.Sprintf("  %s: %v.", cli.OneLine(field.Name), err)))
		}
		v.filled = append(v.filled, value)
		if next := len(v.filled); next < len(fields) {
			return made, noAnswer(v.question())
		}
		values := make(map[string]json.RawMessage, len(fields))
		for i, f := range fields {
			values[f.Name] = v.filled[i]
		}
		made.Text = string(form.Object(fields, values))
	}
	v.close()
	return made, nil
}

// hearArguments returns the approval with the arguments that a person typed as a line.
func (v *interview) hearArguments(made client.Decision, line string) (client.Decision, error) {
	word := strings.ToLower(strings.TrimSpace(line))
	switch {
	case word == "":
		return made, noAnswer(v.question())
	case v.editor.usable() && (word == "e" || word == "edit"):
		v.editor.begin(v.draft)
		return made, errNoAnswer
	}
	return v.approveEdited(made, line)
}

// hearEdit returns the approval with the arguments that a person edited. errNoAnswer means that it
// asked again, or that the question was settled meanwhile.
func (v *interview) hearEdit(e edited) (client.Decision, error) {
	v.editor.taken()
	if len(v.open) == 0 || v.open[0].ID != v.asked {
		v.editing = false
		return client.Decision{}, noAnswer(v.show.line(yellow, "  the decision was made meanwhile; your edit has no effect"))
	}
	made := client.Decision{ID: v.open[0].ID}
	switch {
	case e.err != nil:
		v.editing = false
		return made, noAnswer(v.again(fmt.Sprintf("  %v; the arguments stay as they are", e.err)))
	case e.text == "":
		v.editing = false
		return made, noAnswer(v.again("  the arguments stay as they are"))
	}
	return v.approveEdited(made, e.text)
}

// approveEdited returns the approval with other arguments, if they fit the schema of the tool.
func (v *interview) approveEdited(made client.Decision, text string) (client.Decision, error) {
	arguments, err := checkedArguments(text, string(v.open[0].Arguments), v.open[0].Schema)
	switch {
	case err != nil:
		v.draft = text
		return made, noAnswer(v.again(fmt.Sprintf("  %v", err)))
	case arguments == nil:
		v.editing = false
		return made, noAnswer(v.again("  the arguments stay as they are"))
	}
	made.Verdict, made.Arguments = client.Approve, arguments
	v.close()
	return made, nil
}

// option returns the answer that a line means. If it is the number of a proposed answer, that is
// the proposed answer. Another number is probably mistyped, so it is an error, unless a space
// before it or a proposed answer says that the person means the text. Otherwise it is the text
// itself.
func option(options []string, line string) (string, error) {
	text := strings.TrimSpace(line)
	n, err := strconv.ParseUint(text, 10, 64)
	switch {
	case err != nil, len(options) == 0:
		return text, nil
	case n >= 1 && n <= uint64(len(options)):
		return options[n-1], nil
	case slices.Contains(options, text), strings.HasPrefix(line, " "):
		return text, nil
	}
	return "", fmt.Errorf("there is no answer %s: type a number from 1 to %d, or words; for the text %[1]s, type a space before it", text, len(options))
}
