package operate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

func newPendingCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var format cli.Format
	var filter client.InboxFilter
	var following bool
	cmd := &cobra.Command{
		Use:   "pending [CALL]",
		Short: "List the calls that wait for an approval",
		Long: "Pending lists the calls that toolhost holds until a person approves them, the one that ends first first: yours, and\n" +
			"with the right calls.list or calls.approve those of a tenant. A call is held if its caller asks for that: toolhost call\n" +
			"--wait-for-approval, and MCP clients that cannot ask their user. With CALL it shows one as a whole, also for 15 minutes\n" +
			"after the decision. With -o json it prints an array of objects, and with CALL one object, which has the etag of what it shows.\n" +
			"With -f it goes on until it is interrupted, which is no failure: a terminal shows the list as it changes; elsewhere it\n" +
			"prints each call that is new, and once more when it waits no longer, with -o json an object.",
		Example: "  toolhost approvals pending\n  toolhost approvals pending -f\n  toolhost approvals pending calls/x2k4d7qmb3wzt5ne",
		Args:    cli.Arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return conn.With(func(c *client.Client) error {
				switch {
				case following && len(args) > 0:
					return cli.Usage("-f follows the list; leave out the call")
				case following:
					return followPending(cmd.Context(), c, p, filter, format.JSON())
				case len(args) == 0:
					return listPending(cmd.Context(), c, p, filter, format.JSON())
				}
				d, err := c.InboxDecision(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if format.JSON() {
					return cli.WriteJSON(p.Stdout, viewHeld(&d))
				}
				return showHeld(p.Out(), &d)
			})
		},
	}
	cmd.Flags().BoolVarP(&following, "follow", "f", false, "go on with what waits as it changes")
	tenantFlag(cmd.Flags(), (*tool.Tenants)(&filter.Tenants), "those")
	conn.AddFlag(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}

// heldView is a held call, as -o json prints it.
type heldView struct {
	Name        string         `json:"name"`
	Waiting     bool           `json:"waiting"`
	Principal   string         `json:"principal"`
	Agent       string         `json:"agent,omitempty"`
	RunID       string         `json:"run_id,omitempty"`
	Session     string         `json:"session,omitempty"`
	CallID      string         `json:"call_id"`
	Tool        string         `json:"tool"`
	DisplayName string         `json:"display_name,omitempty"`
	Plugin      string         `json:"plugin"`
	Arguments   string         `json:"arguments"` // a text: it may be cut
	Context     string         `json:"context,omitempty"`
	Cut         bool           `json:"cut,omitempty"`
	Rule        string         `json:"rule,omitempty"`
	Reason      string         `json:"reason"`
	FourEyes    bool           `json:"four_eyes,omitempty"`
	Approvers   []string       `json:"approver_groups,omitempty"`
	RequestTime time.Time      `json:"request_time"`
	ExpireTime  time.Time      `json:"expire_time"`
	NotAllowed  string         `json:"not_allowed,omitempty"`
	Etag        string         `json:"etag,omitempty"`
	Verdict     client.Verdict `json:"verdict,omitempty"`
	DecideTime  time.Time      `json:"decide_time,omitzero"`
	DecidedBy   string         `json:"decided_by,omitempty"` // the key of the principal
	Text        string         `json:"text,omitempty"`
}

func viewHeld(d *client.InboxDecision) heldView {
	return heldView{
		Name: d.Name, Waiting: d.Waiting, Principal: d.Principal, Agent: d.Agent, RunID: d.RunID, Session: d.Session, CallID: d.CallID, Tool: d.Tool,
		DisplayName: d.DisplayName, Plugin: d.Plugin, Arguments: string(d.Arguments), Context: d.Context, Cut: d.Cut, Rule: d.Rule, Reason: d.Reason, FourEyes: d.FourEyes, Approvers: d.ApproverGroups,
		RequestTime: d.Requested, ExpireTime: d.Expires, NotAllowed: d.NotAllowed, Etag: d.Etag, Verdict: d.Made.Verdict, DecideTime: d.MadeTime,
		DecidedBy: d.Made.Principal, Text: d.Made.Text,
	}
}

// followPending shows the calls that wait until ctx ends.
func followPending(ctx context.Context, c *client.Client, p cli.Process, filter client.InboxFilter, asJSON bool) error {
	changes := terminal.NewChanges(ctx, p, asJSON, pendingHeader())
	err := follow(ctx, terminal.Follow(ctx, p, filter, c.WatchInbox), func(waiting terminal.Waiting) error {
		var rows []terminal.Row
		for _, d := range waiting.Decisions {
			gone := d
			gone.Waiting = false
			rows = append(rows, terminal.Row{Key: d.Name, Cells: pendingCells(&d), Value: viewHeld(&d), Gone: pendingCells(&gone), GoneValue: viewHeld(&gone), Mark: d.NotAllowed})
		}
		return changes.Show(rows)
	})
	return errors.Join(err, changes.End())
}

func pendingHeader() []string {
	return []string{"CALL", "TOOL", "PRINCIPAL", "AGENT", "ARGUMENTS", "ENDS"}
}

// pendingCells returns a held call as a row of a table.
func pendingCells(d *client.InboxDecision) []string {
	ends := clock(d.Expires)
	if !d.Waiting {
		ends = "waits no more"
	}
	return []string{d.Name, d.Tool, d.Principal, cli.Dash(d.Agent), cli.Clip(cli.OneLine(string(d.Arguments)), 300), ends}
}

func listPending(ctx context.Context, c *client.Client, p cli.Process, filter client.InboxFilter, asJSON bool) error {
	all, rows := []heldView{}, [][]string{}
	for d, err := range c.Inbox(ctx, filter) {
		if err != nil {
			return err
		}
		all = append(all, viewHeld(&d))
		rows = append(rows, pendingCells(&d))
	}
	if asJSON {
		return cli.WriteJSON(p.Stdout, all)
	}
	if len(all) == 0 {
		fmt.Fprintln(p.Err(), "no call waits for an approval")
		return nil
	}
	if err := cli.WriteTable(p.Stdout, p.Screen(), pendingHeader(), rows); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.Err(), "see and approve one: toolhost approvals approve %s\n", all[0].Name)
	return err
}

// showHeld prints all that a person approves. Its caller, a model or a tool wrote most of it, so w
// must escape what could steer a terminal; no text of theirs gets a line of its own but the
// arguments, which are indented.
func showHeld(w io.Writer, d *client.InboxDecision) error {
	arguments := indented(string(d.Arguments))
	who := "of " + d.Principal
	if d.FourEyes {
		who += ", and another principal has to approve it"
	}
	lines := [][2]string{
		{"tool", strings.TrimSpace(d.Tool+" "+parenthesized(d.DisplayName)) + " of the plugin " + d.Plugin}, {"call", d.CallID + " " + who}, {"agent", d.Agent},
		{"run", d.RunID}, {"session", d.Session}, {"rule", d.Rule}, {"groups", strings.Join(d.ApproverGroups, ", ")}, {"why", d.Reason}, {"asked", clock(d.Requested)},
	}
	if d.Waiting {
		lines = append(lines, [2]string{"ends", clock(d.Expires)}, [2]string{"etag", d.Etag})
	} else {
		lines = append(lines, [2]string{"decided", fmt.Sprintf("%s by %s %s %s", d.Made.Verdict, cli.Dash(d.Made.Principal), clock(d.MadeTime), d.Made.Text)})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", cli.OneLine(d.Name))
	for _, line := range lines {
		if line[1] != "" {
			fmt.Fprintf(&b, "  %-8s %s\n", line[0], cli.OneLine(strings.TrimSpace(line[1])))
		}
	}
	if d.Context != "" {
		fmt.Fprintf(&b, "  with the context\n    %s\n", indented(d.Context))
	}
	fmt.Fprintf(&b, "  with the arguments\n    %s\n", arguments)
	_, err := io.WriteString(w, b.String())
	return err
}

// indented returns JSON on lines of its own. Long runs of blanks are counted.
func indented(text string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), "    ", "  ") != nil {
		return cli.CountBlanks(cli.OneLine(text))
	}
	return cli.CountBlanks(b.String())
}

func parenthesized(text string) string {
	if text == "" {
		return ""
	}
	return "(" + text + ")"
}

func newApproveCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	verdict := decisionFlags{verdict: client.Approve}
	cmd := &cobra.Command{
		Use:   "approve CALL",
		Short: "Approve a call that waits",
		Long: "Approve approves a call that toolhost holds: it is executed if its caller still waits, and otherwise the same call passes\n" +
			"once within 15 minutes. It needs the right calls.approve in the tenant of the call. In a terminal it shows the call\n" +
			"(tool, arguments, rule, caller) and asks. Elsewhere it needs --etag, which `approvals pending CALL` prints with the call;\n" +
			"without it, it prints the call and approves nothing.",
		Example: "  toolhost approvals approve calls/x2k4d7qmb3wzt5ne",
		Args:    cli.Arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return conn.Change(func(c *client.Client) error {
				if verdict.etag == "" {
					d, err := c.InboxDecision(cmd.Context(), args[0])
					if err != nil {
						return err
					}
					if err := confirmHeld(cmd.Context(), p, &d); err != nil {
						return err
					}
					verdict.etag = d.Etag
				}
				return verdict.send(cmd.Context(), c, p, args[0])
			})
		},
	}
	cmd.Flags().StringVar(&verdict.etag, "etag", "", "approve what has this `ETAG`, without a question")
	verdict.addFlags(cmd, &conn)
	return cmd
}

// confirmHeld shows a call that is to be approved, and asks the person at the terminal. It returns
// nil if the person says yes.
func confirmHeld(ctx context.Context, p cli.Process, d *client.InboxDecision) error {
	if err := showHeld(p.Out(), d); err != nil {
		return err
	}
	switch {
	case !d.Waiting:
		return nil
	case d.NotAllowed != "":
		return fmt.Errorf("you cannot approve %s: %s", d.Name, d.NotAllowed)
	case !cli.IsTerminal(p.Stdin) || !cli.IsTerminal(p.Stdout):
		return cli.Usage("nothing was approved, because no terminal shows the call to a person; to approve it as it is shown above: toolhost approvals approve %s --etag %s", d.Name, d.Etag)
	}
	word, err := terminal.NewConsole(p).Answer(ctx.Done(), terminal.Question{Prompt: fmt.Sprintf("approve this call of %s for %s? [y]es, or no: ", cli.OneLine(d.Tool), cli.OneLine(d.Principal)), Decision: true})
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, terminal.ErrInterrupted) {
		return err
	}
	if word = strings.ToLower(strings.TrimSpace(word)); word != "y" && word != "yes" {
		return cli.Usage("%s was not approved, and still waits; to reject it: toolhost approvals reject %[1]s", d.Name)
	}
	return nil
}

func newRejectCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	verdict := decisionFlags{verdict: client.Reject}
	cmd := &cobra.Command{
		Use:   "reject CALL",
		Short: "Reject a call that waits",
		Long: "Reject ends the wait of a call that toolhost holds. For 15 minutes the same call is refused with the reason. You can\n" +
			"reject your own calls, and with the right calls.approve those of other principals of the tenant.",
		Example: "  toolhost approvals reject calls/x2k4d7qmb3wzt5ne --reason 'not in production'",
		Args:    cli.Arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return conn.Change(func(c *client.Client) error {
				d, err := c.InboxDecision(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				verdict.etag = d.Etag
				return verdict.send(cmd.Context(), c, p, args[0])
			})
		},
	}
	verdict.addFlags(cmd, &conn)
	return cmd
}

// decisionFlags are the flags of a verdict.
type decisionFlags struct {
	verdict      client.Verdict
	etag, reason string
	format       cli.Format
}

func (f *decisionFlags) addFlags(cmd *cobra.Command, conn *Connection) {
	cmd.Flags().StringVar(&f.reason, "reason", "", "the reason, which the caller reads, as `TEXT`")
	conn.AddFlag(cmd.Flags())
	f.format.AddFlag(cmd.Flags())
}

// send makes the decision.
func (f *decisionFlags) send(ctx context.Context, c *client.Client, p cli.Process, name string) error {
	if f.etag == "" {
		f.etag = "none" // the decision was made, and toolhost says who made it
	}
	made, err := c.Decide(ctx, client.DecideRequest{Name: name, Etag: f.etag, Verdict: f.verdict, Text: f.reason, DecidedBy: userName()})
	if err != nil {
		return err
	}
	if f.format.JSON() {
		return cli.WriteJSON(p.Stdout, viewHeld(&made))
	}
	words := "is rejected"
	if f.verdict == client.Approve {
		words = "is approved: it is executed if its caller waits, or else passes once within 15 minutes"
	}
	_, err = fmt.Fprintf(p.Out(), "%s of %s %s\n", cli.OneLine(name), cli.OneLine(made.Tool), words)
	return err
}
