package commands

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

func newInboxCommand(p cli.Process) *cobra.Command {
	s := &server{setup: setup{process: p}}
	var format cli.Format
	var filter client.InboxFilter
	var verdict inboxVerdict
	var following bool
	cmd := &cobra.Command{
		Use:   "inbox [DECISION]",
		Short: "List what waits for a decision, in all runs, and decide",
		Long: "Inbox lists the decisions that runs wait for, the one that ends first first: calls to approve, questions of models and\n" +
			"tools, calls with an unknown outcome, and runs that got stuck. Of an agentd serve it also lists the calls that its toolhost\n" +
			"holds, as calls/ID; if the toolhost does not answer, it says so. With RUN/DECISION or calls/ID it shows one of them as a\n" +
			"whole, also after it was made. At a terminal it then asks for your decision; an empty line or Ctrl-C decides\n" +
			"nothing.\n\n" +
			"--approve, --edit, --reject and --answer decide by the command line. At a terminal, inbox shows the decision and asks first.\n" +
			"Elsewhere, --etag repeats the etag of what you have seen: if something else is asked by now, nothing is decided. Who comes\n" +
			"second learns who decided what, and when.\n\n" +
			"With -f it goes on until it is interrupted, which is no failure: a terminal shows the list as it changes; elsewhere it\n" +
			"prints each decision that is new or has changed, and once more when it waits no longer.\n\n" +
			"With --target or --addr, or with a target in use, it lists what waits at a server: what you may see, and what waits in\n" +
			"tenants in which you may approve calls. With -o json it prints one object per line.",
		Example: "  agentd inbox\n  agentd inbox -f\n  agentd inbox run-k3f6zq7xw2m4n5pa/d1\n  agentd inbox --target prod --tenant red\n" +
			"  agentd inbox run-k3f6zq7xw2m4n5pa/d1 --reject --reason \"not in production\"",
		Args: cli.Arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			made, given, err := verdict.given(cmd)
			switch {
			case err != nil:
				return err
			case following && (given || len(args) > 0):
				return cli.Usage("-f follows the list; leave out the decision and the verdict")
			case given && len(args) == 0:
				return cli.Usage("name the decision: agentd inbox DECISION; `agentd inbox` lists them")
			case given:
				return s.change(cmd.Context(), func(a *client.AgentClient) error { return verdict.decide(cmd.Context(), p, a, args[0], made) })
			}
			reach, served, err := s.open()
			if err != nil {
				return err
			}
			return reach(cmd.Context(), func(a *client.AgentClient) error {
				if len(args) == 1 {
					d, err := a.InboxDecision(cmd.Context(), args[0])
					if err != nil {
						return err
					}
					if format.JSON() {
						return cli.WriteJSON(p.Stdout, inboxViewOf(&d))
					}
					if !served || !d.Waiting || d.NotAllowed != "" || !cli.IsTerminal(p.Stdin) || !cli.IsTerminal(p.Stdout) {
						return showDecision(p, &d)
					}
					made, err := askInbox(cmd.Context(), p, &d)
					if errors.Is(err, errLeft) {
						_, err = fmt.Fprintf(p.Err(), "agentd: nothing was decided about %s\n", cli.OneLine(d.Name))
						return err
					}
					if err != nil {
						return err
					}
					return verdict.send(cmd.Context(), p, a, d.Name, d.Etag, made)
				}
				if following {
					return followInbox(cmd.Context(), a, p, filter, format.JSON())
				}
				list, missing, err := listInbox(cmd.Context(), a, filter)
				if err != nil {
					return err
				}
				return errors.Join(printInbox(p, list, format.JSON()), sayMissing(p, missing))
			})
		},
	}
	s.setup.addJournalFlags(cmd.Flags())
	s.addServerFlags(cmd.Flags())
	cmd.Flags().StringArrayVar(&filter.Tenants, "tenant", nil, "only what waits in this `TENANT`; may be given more than once")
	cmd.Flags().BoolVarP(&following, "follow", "f", false, "go on with what waits as it changes")
	cmd.AddCommand(newMineCommand(p), newRevokeCommand(p), newExtendCommand(p))
	verdict.addFlags(cmd)
	format.AddFlag(cmd.Flags())
	return cmd
}

// inboxView is a decision as -o json prints it.
type inboxView struct {
	Name        string              `json:"name"`
	Kind        client.DecisionKind `json:"kind"`
	Waiting     bool                `json:"waiting"`
	RunID       string              `json:"run_id"`
	DecisionID  string              `json:"decision_id"`
	ParentRunID string              `json:"parent_run_id,omitempty"`
	Tenant      string              `json:"tenant"`
	Principal   string              `json:"principal,omitempty"`
	Agent       string              `json:"agent,omitempty"`   // only of a call that toolhost holds
	Session     string              `json:"session,omitempty"` // as agent
	Context     string              `json:"context,omitempty"` // as agent
	CallID      string              `json:"call_id,omitempty"`
	Tool        string              `json:"tool,omitempty"`
	DisplayName string              `json:"display_name,omitempty"`
	Plugin      string              `json:"plugin,omitempty"`
	Arguments   string              `json:"arguments,omitempty"` // a text: it may be cut
	Reason      string              `json:"reason,omitempty"`
	Options     []string            `json:"options,omitempty"`
	Rule        string              `json:"rule,omitempty"`
	FourEyes    bool                `json:"four_eyes,omitempty"`
	Approvers   []string            `json:"approver_groups,omitempty"`
	Schema      json.RawMessage     `json:"schema,omitempty"`
	Diff        string              `json:"diff,omitempty"`
	Cut         bool                `json:"cut,omitempty"`
	RequestTime time.Time           `json:"request_time"`
	ExpireTime  time.Time           `json:"expire_time,omitzero"`
	NotAllowed  string              `json:"not_allowed,omitempty"`
	Etag        string              `json:"etag,omitempty"` // only of one decision
	Verdict     client.Verdict      `json:"verdict,omitempty"`
	DecideTime  time.Time           `json:"decide_time,omitzero"`
	DecidedBy   string              `json:"decided_by,omitempty"` // the key of the principal
	Text        string              `json:"text,omitempty"`
}

func inboxViewOf(d *client.InboxDecision) inboxView {
	v := inboxView{
		Name: d.Name, Kind: d.Kind, Waiting: d.Waiting, RunID: d.RunID, DecisionID: d.ID, ParentRunID: d.ParentRunID, Tenant: d.Tenant, Principal: d.Principal,
		Agent: d.Agent, Session: d.Session, Context: d.Context, CallID: d.CallID, Tool: d.Tool, DisplayName: d.DisplayName, Plugin: d.Plugin, Arguments: string(d.Arguments), Reason: d.Reason, Options: d.Options,
		Rule: d.Rule, FourEyes: d.FourEyes, Approvers: d.ApproverGroups, Diff: d.Diff, Cut: d.Cut, RequestTime: d.Requested, ExpireTime: d.Expires, NotAllowed: d.NotAllowed, Etag: d.Etag,
		Verdict: d.Made.Verdict, DecideTime: d.MadeTime, DecidedBy: d.Made.Principal, Text: d.Made.Text,
	}
	if json.Valid(d.Schema) {
		v.Schema = d.Schema
	}
	return v
}

// listInbox returns all decisions of a filter, and why others are missing.
func listInbox(ctx context.Context, a *client.AgentClient, filter client.InboxFilter) (list []client.InboxDecision, missing []string, err error) {
	query := client.InboxQuery{InboxFilter: filter}
	for {
		page, err := a.InboxPage(ctx, query)
		if err != nil {
			return nil, nil, err
		}
		list, missing = append(list, page.Decisions...), append(missing, page.Unavailable...)
		if query.PageToken = page.NextPageToken; query.PageToken == "" {
			return list, missing, nil
		}
	}
}

// sayMissing says which decisions the list lacks.
func sayMissing(p cli.Process, missing []string) error {
	for _, text := range missing {
		if _, err := fmt.Fprintf(p.Err(), "agentd: %s\n", cli.OneLine(text)); err != nil {
			return err
		}
	}
	return nil
}

// isHeld reports whether a decision is about a call that toolhost holds.
func isHeld(d *client.InboxDecision) bool { return d.ID == "" }

// followInbox shows what waits until ctx ends. While toolhost does not answer, nobody knows what
// became of the calls that it holds, so they stay.
func followInbox(ctx context.Context, a *client.AgentClient, p cli.Process, filter client.InboxFilter, asJSON bool) error {
	changes := terminal.NewChanges(ctx, p, asJSON, inboxHeader())
	var said []string
	for waiting, err := range terminal.Follow(ctx, p, filter, a.WatchInbox) {
		if err == nil && !slices.Equal(waiting.Missing, said) {
			said, err = waiting.Missing, errors.Join(changes.End(), sayMissing(p, waiting.Missing))
		}
		rows := []terminal.Row{}
		for i := range waiting.Decisions {
			d := &waiting.Decisions[i]
			gone := *d
			gone.Waiting = false
			rows = append(rows, terminal.Row{
				Key: d.Name, Cells: inboxCells(d), Value: inboxViewOf(d), Mark: fmt.Sprint(d.Expires, d.NotAllowed), Gone: inboxCells(&gone), GoneValue: inboxViewOf(&gone),
			})
		}
		if err == nil {
			err = changes.Show(rows)
		}
		if err != nil && ctx.Err() == nil {
			return errors.Join(err, changes.End())
		}
	}
	return changes.End()
}

func inboxHeader() []string { return strings.Fields("DECISION WHAT FOR ENDS DETAIL") }

// inboxCells returns a decision as a row of a table.
func inboxCells(d *client.InboxDecision) []string {
	ends := timeLeft(d.Expires)
	if !d.Waiting {
		ends = "waits no more"
	}
	return []string{d.Name, whatWaits(&d.PendingDecision), d.Principal, ends, cli.Clip(detailOf(&d.PendingDecision), promptWidth)}
}

func printInbox(p cli.Process, list []client.InboxDecision, asJSON bool) error {
	var rows [][]string
	for i := range list {
		d := &list[i]
		if asJSON {
			if err := cli.WriteJSON(p.Stdout, inboxViewOf(d)); err != nil {
				return err
			}
			continue
		}
		rows = append(rows, inboxCells(d))
	}
	if asJSON {
		return nil
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(p.Err(), "agentd: nothing waits for a decision")
		return err
	}
	if err := cli.WriteTable(p.Stdout, p.Screen(), inboxHeader(), rows); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.Err(), "agentd: see one, and decide: agentd inbox %s\n", cli.OneLine(list[0].Name))
	return err
}

// detailOf returns what tells one decision from another: the arguments of a call to approve, or the
// question.
func detailOf(p *client.PendingDecision) string {
	if p.Kind == client.DecideApproval {
		return string(p.Arguments)
	}
	return p.Reason
}

// howToDecide returns the command that makes a decision which a person has seen as a whole.
func howToDecide(d *client.InboxDecision) string {
	command := "agentd inbox " + d.Name
	if d.Kind == client.DecideQuestion || d.Kind == client.DecideTool {
		command += " --answer TEXT"
	} else {
		command += " --approve"
	}
	return command + " --etag " + d.Etag + ", or --reject"
}

// timeLeft returns when a decision ends by itself.
func timeLeft(end time.Time) string {
	switch left := time.Until(end); {
	case end.IsZero():
		return "never"
	case left <= 0:
		return "now"
	default:
		return "in " + cli.Age(left)
	}
}

// untilNo says what the end of a decision is: a No, or for a question that nobody answers it.
func untilNo(p *client.PendingDecision) string {
	switch {
	case p.Expires.IsZero():
		return "it waits without an end"
	case p.Kind == client.DecideApproval, p.Kind == client.DecidePause:
		return "without a decision it is a No " + timeLeft(p.Expires)
	}
	return "without a decision it is left open " + timeLeft(p.Expires)
}

// whatWaits returns what has to be decided, in a few words.
func whatWaits(p *client.PendingDecision) string {
	return cli.OneLine(map[client.DecisionKind]string{
		client.DecideApproval: "approve " + titled(p),
		client.DecideQuestion: "answer the model",
		client.DecideOutcome:  "outcome of " + p.Tool,
		client.DecidePause:    "a stuck run",
		client.DecideTool:     "answer " + asker(p),
	}[p.Kind])
}

// showDecision shows a whole decision, and what became of it.
func showDecision(p cli.Process, d *client.InboxDecision) error {
	text := newTextDisplay(p)
	if err := text.decision(shownPending(d), 1); err != nil {
		return err
	}
	var lines []string
	switch made := &d.Made; {
	case d.Waiting && d.NotAllowed != "":
		lines = append(lines, "  you cannot decide: "+d.NotAllowed)
	case d.Waiting:
		lines = append(lines, "  "+untilNo(&d.PendingDecision)+"; decide: "+howToDecide(d))
	case made.Verdict == "":
		lines = append(lines, "  it is not wanted any more, and nobody decided")
	case made.Verdict == client.Expired:
		lines = append(lines, "  nobody decided until "+d.MadeTime.Local().Format(time.DateTime)+", which counts as a No")
	default:
		line := fmt.Sprintf("  %s made it at %s: %s", made.Principal, d.MadeTime.Local().Format(time.DateTime), made.Verdict)
		if made.Text != "" {
			line += ", " + made.Text
		}
		lines = append(lines, line)
	}
	return showLines(text, d, lines...)
}

// shownPending returns a decision as the terminal of a run shows it. A held call has no id but its
// name.
func shownPending(d *client.InboxDecision) *client.PendingDecision {
	p := d.PendingDecision
	p.ID = cmp.Or(p.ID, d.Name)
	return &p
}

// showLines shows whose decision it is, and more lines about it.
func showLines(text *textDisplay, d *client.InboxDecision, lines ...string) error {
	if isHeld(d) {
		if err := showHeld(text, d); err != nil {
			return err
		}
	} else {
		whose := "  run " + d.RunID
		if d.Principal != "" {
			whose += ", of " + d.Principal
		}
		lines = append([]string{whose}, lines...)
	}
	for _, line := range lines {
		if err := text.line(dim, "%s", cli.OneLine(line)); err != nil {
			return err
		}
	}
	return nil
}

// showHeld shows what else a person has to know about a call that toolhost holds: who makes it
// through which agent, and the context that the caller chose.
func showHeld(text *textDisplay, d *client.InboxDecision) error {
	lines := []shownLine{{dim, "  call " + d.CallID + " of " + d.Principal + ", of the plugin " + d.Plugin + "; toolhost holds it"}}
	for _, named := range [][2]string{{"agent", d.Agent}, {"run", d.RunID}, {"session", d.Session}} {
		if named[1] != "" {
			lines = append(lines, shownLine{dim, "  " + named[0] + " " + named[1]})
		}
	}
	for i := range lines { // the names are the caller's
		lines[i].text = cli.CountBlanks(cli.OneLine(lines[i].text))
	}
	if d.Context != "" {
		lines = append(lines, shownArguments(&client.PendingDecision{Tool: "with the context", Arguments: json.RawMessage(d.Context)})...)
	}
	for _, l := range lines {
		if err := text.line(l.shade, "%s", l.text); err != nil {
			return err
		}
	}
	return nil
}
