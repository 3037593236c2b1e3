package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/terminal"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// standingsOf returns the function with which the agent creates standing approvals. The context of
// a request names the principal of the run; see actFor.
func standingsOf(c *client.Client) func(ctx context.Context, r tool.ApprovalRequest, approver string) (tool.StandingApproval, error) {
	return func(ctx context.Context, r tool.ApprovalRequest, approver string) (tool.StandingApproval, error) {
		var p client.Principal
		if approver != "" {
			p.Tenant, p.Name = identity.SplitKey(approver)
			p.Groups = r.ApproverGroups
		}
		return c.CreateApproval(ctx, r, p)
	}
}

// standingOf returns the id of the standing approval that approved a call, or "".
func standingOf(r *tool.Result) string {
	var by struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(r.Metadata[tool.KeyStandingApproval], &by) // what cannot be read is not shown
	return by.ID
}

// parseStanding returns the choice that a person typed: the number of an offer, followed by run,
// session, a time such as 8h, or a date such as 2026-12-31. Without these it is for the run. JSON
// is taken as it is.
func parseStanding(offers []client.StandingChoice, text string, now time.Time) (client.StandingChoice, error) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "{") {
		var s standingChoice
		d := json.NewDecoder(strings.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&s); err != nil {
			return client.StandingChoice{}, fmt.Errorf("the choice is no JSON object of a standing approval: %w", err)
		}
		return client.StandingChoice(s), nil
	}
	number, scope, _ := strings.Cut(text, " ")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(offers) {
		return client.StandingChoice{}, fmt.Errorf("choose a number from 1 to %d", len(offers))
	}
	s := offers[n-1]
	switch scope = strings.TrimSpace(scope); {
	case scope == "" || scope == "run":
		s.Scope = tool.ScopeRun
	case scope == "session":
		s.Scope = tool.ScopeSession
	default:
		s.Scope = tool.ScopePrincipal
		if s.Expires, err = untilTime(scope, now); err != nil {
			return s, err
		}
	}
	if s.AnyArguments && s.Scope != tool.ScopeRun {
		return s, errors.New("calls with any arguments can be approved only for this run")
	}
	return s, nil
}

// untilTime returns the time that a person means: after a duration, or at the end of a day.
func untilTime(text string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(d).Truncate(time.Second), nil
	}
	day, err := time.ParseInLocation(time.DateOnly, text, now.Location())
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is neither run, nor session, nor a time such as 8h, nor a date such as %s", text, now.Format(time.DateOnly))
	}
	return day.AddDate(0, 0, 1), nil
}

// describeStanding says which later calls a choice approves. An offer has no scope yet.
func describeStanding(s *client.StandingChoice) string {
	var words []string
	switch {
	case s.AnyArguments:
		words = append(words, "with any arguments")
	case len(s.Patterns) == 0:
		words = append(words, "with exactly these arguments")
	}
	for _, p := range s.Patterns {
		switch {
		case p.PathPrefix != "":
			words = append(words, fmt.Sprintf("%s is %q or below it", p.Argument, p.PathPrefix))
		case p.Origin != "":
			words = append(words, fmt.Sprintf("%s is at %q", p.Argument, p.Origin))
		default:
			words = append(words, fmt.Sprintf("any %s", p.Argument))
		}
	}
	if len(s.Patterns) > 0 {
		words = append(words, "all other arguments as here")
	}
	switch s.Scope {
	case tool.ScopeRun:
		words = append(words, "in this run")
	case tool.ScopeSession:
		words = append(words, "in this session")
	case tool.ScopePrincipal:
		words = append(words, "in all runs")
	}
	if !s.Expires.IsZero() {
		words = append(words, "until "+s.Expires.Local().Format("2006-01-02 15:04"))
	}
	return strings.Join(words, ", ")
}

const (
	promptChoice     = "  number, and run (as is), session, a time such as 8h, or a date (empty: back): "
	promptConfirm    = "  allow this call and those? [y]es (empty: back): "
	promptConfirmOne = "  allow this call and those? [y]es, or another number (empty: back): "
)

// askStanding shows which later calls can be approved, after a message about the last answer.
func (v *interview) askStanding(words string) error {
	if words != "" {
		if err := v.show.line(yellow, "  %s", words); err != nil {
			return err
		}
	}
	if err := v.show.offers(&v.open[0]); err != nil {
		return err
	}
	return v.console.Ask(terminal.Question{Prompt: promptChoice, Decision: true})
}

// offers shows which later calls can be approved together with a call.
func (d *textDisplay) offers(p *client.PendingDecision) error {
	for i := range p.StandingOffers {
		if err := d.line(yellow, "  %d) later calls of %s %s", i+1, p.Tool, cli.OneLine(describeStanding(&p.StandingOffers[i]))); err != nil {
			return err
		}
	}
	return nil
}

// askRun asks to confirm the first choice for this run. It shows the others, if there are any.
func (v *interview) askRun() error {
	v.choosing = true
	s := v.open[0].StandingOffers[0]
	s.Scope = tool.ScopeRun
	if len(v.open[0].StandingOffers) > 1 {
		if err := v.show.offers(&v.open[0]); err != nil {
			return err
		}
	}
	return v.confirm(&s)
}

// confirm shows what exactly a choice allows, and asks to confirm it. The person may choose another
// one instead.
func (v *interview) confirm(s *client.StandingChoice) error {
	v.chosen = s
	if err := v.show.line(yellow, "  later calls of %s are allowed %s", v.open[0].Tool, cli.OneLine(describeStanding(s))); err != nil {
		return err
	}
	text := promptConfirm
	if len(v.open[0].StandingOffers) > 1 {
		text = promptConfirmOne
	}
	return v.console.Ask(terminal.Question{Prompt: text, Decision: true})
}

// hearStanding returns the approval with the later calls that a person chose. The person confirms
// what exactly will be allowed.
func (v *interview) hearStanding(made client.Decision, line string) (client.Decision, error) {
	word := strings.ToLower(strings.TrimSpace(line))
	switch {
	case word == "":
		return made, noAnswer(v.question())
	case v.chosen != nil && (word == "y" || word == "yes"):
		made.Verdict, made.Standing = client.Approve, v.chosen
		v.close()
		return made, nil
	}
	v.chosen = nil
	if word == "n" || word == "no" {
		return made, noAnswer(v.askStanding(""))
	}
	s, err := parseStanding(v.open[0].StandingOffers, line, time.Now())
	if err != nil {
		return made, noAnswer(v.askStanding(err.Error()))
	}
	return made, noAnswer(v.confirm(&s))
}

// standingApproved shows a standing approval, and how to end it. It names the date only if that is
// what ends it: the end of a run or a session comes first, as a rule.
func (d *textDisplay) standingApproved(p *client.StandingApproved) error {
	if p.Err != nil {
		return d.line(red, "✗ %s: later calls of %s are not allowed: %s", p.DecisionID, p.Tool, cli.OneLine(p.Err.Message))
	}
	until := "until " + p.Expires.Local().Format("2006-01-02 15:04")
	if s := d.standing[p.DecisionID]; s != nil && s.Expires.IsZero() {
		switch s.Scope {
		case tool.ScopeRun:
			until = "for this run"
		case tool.ScopeSession:
			until = "for this session"
		}
	}
	delete(d.standing, p.DecisionID)
	return d.line(green, "✓ %s: later calls of %s are allowed %s; `toolhost approvals revoke %s` ends that", p.DecisionID, p.Tool,
		until, cli.OneLine(p.ApprovalID))
}

// addStanding adds the later calls that the command line names to an approval.
func (v *verdictFlag) addStanding(p *client.PendingDecision, to *client.Decision) error {
	if v.later == "" {
		return nil
	}
	if len(p.StandingOffers) == 0 {
		return cli.Usage("--later %q: decision %s takes no approval of later calls", v.later, p.ID)
	}
	s, err := parseStanding(p.StandingOffers, v.later, time.Now())
	if err != nil {
		return cli.Usage("--later %q: %w", v.later, err)
	}
	to.Standing = &s
	return nil
}
