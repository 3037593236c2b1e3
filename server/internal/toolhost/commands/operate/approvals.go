package operate

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// NewApprovalsCommand returns the command `approvals`.
func NewApprovalsCommand(p cli.Process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "approvals",
		Short: "Approve calls that wait, and list and revoke standing approvals",
		Long: "A call that waits for an approval is shown by `approvals pending`, and approved or rejected once.\n\n" +
			"A standing approval approves later calls of one tool, for one principal and one agent, with arguments that match\n" +
			"it. Persons create them when they approve a call of an agent. They end with `approvals revoke`, at their date, and\n" +
			"when the tool or its plugin changes.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPendingCommand(p), newApproveCommand(p), newRejectCommand(p), newApprovalListCommand(p), newApprovalRevokeCommand(p))
	return cmd
}

func newApprovalListCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var format cli.Format
	var query tool.ApprovalQuery
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List standing approvals",
		Long: "List shows your standing approvals, the newest first; with --all those of all principals that you may see. The\n" +
			"arguments of a call have to be equal to those shown, except for those with a pattern: DIR/… is a path at or below\n" +
			"DIR, ORIGIN/… a URL of that origin, and … any value. Approvals that have ended are listed for 30 days with --ended.\n" +
			"With -o json it prints an array of objects.",
		Example: "  toolhost approvals list --all --tenant red",
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(query.Tenants) > 0 && !query.AllPrincipals {
				return cli.Usage("--tenant: it selects from --all")
			}
			return conn.With(func(c *client.Client) error {
				return listApprovals(cmd.Context(), c, p, query, format.JSON())
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&query.AllPrincipals, "all", false, "those of all principals that you may see")
	tenantFlag(f, &query.Tenants, "those")
	f.StringVar(&query.Tool, "tool", "", "only those of this `TOOL`")
	f.StringVar(&query.Run, "run", "", "only those of this `RUN`")
	f.BoolVar(&query.Ended, "ended", false, "also those that have ended")
	conn.AddFlag(f)
	format.AddFlag(f)
	return cmd
}

func listApprovals(ctx context.Context, c *client.Client, p cli.Process, q tool.ApprovalQuery, asJSON bool) error {
	all := []tool.StandingApproval{}
	q.PageSize = 1000
	for more := true; more; more = q.PageToken != "" {
		page, err := c.Approvals(ctx, q)
		if err != nil {
			return err
		}
		all = append(all, page.Approvals...)
		q.PageToken = page.NextPageToken
	}
	if asJSON {
		return cli.WriteJSON(p.Stdout, all)
	}
	if len(all) == 0 {
		fmt.Fprintln(p.Err(), "there are no such standing approvals")
		return nil
	}
	rows := [][]string{}
	for i := range all {
		a := &all[i]
		rows = append(rows, []string{
			a.ID, a.Principal, cli.Dash(a.Agent), a.Tool, cli.Clip(cli.OneLine(cli.PermittedArguments(a)), 300), cli.PermittedCalls(a), cmp.Or(a.Approver, "-"), clock(a.Expires), stateOfApproval(a),
		})
	}
	return cli.WriteTable(p.Stdout, p.Screen(), []string{"APPROVAL", "PRINCIPAL", "AGENT", "TOOL", "ARGUMENTS", "FOR", "APPROVER", "EXPIRES", "STATE"}, rows)
}

func stateOfApproval(a *tool.StandingApproval) string {
	if a.Ended.IsZero() {
		return "in force"
	}
	words := string(a.End) + " " + clock(a.Ended)
	if a.RevokedBy != "" {
		words += " by " + a.RevokedBy
	}
	return words
}

// revokedView is an approval that was revoked, as -o json prints it.
type revokedView struct {
	ID      string           `json:"id"`
	Tool    string           `json:"tool"`
	Ended   time.Time        `json:"end_time"`
	End     tool.ApprovalEnd `json:"end"` // why it ended; not revoked, if it had ended before
	Revoked bool             `json:"revoked"`
}

func newApprovalRevokeCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var format cli.Format
	var reason string
	cmd := &cobra.Command{
		Use:   "revoke APPROVAL",
		Short: "End a standing approval",
		Long: "Revoke ends a standing approval at once, also for calls that wait for their plugin. Toolhosts that share a database\n" +
			"with this one follow within 10 seconds. You can revoke your own, and with the right calls.approve those of other\n" +
			"principals of the tenant. One that has ended stays as it is.\n" +
			"With -o json it prints an object: id, tool, end_time, end and revoked.",
		Example: "  toolhost approvals revoke approval-OHLCSUXVZ5BCMPXCLDTGQ5NEGI --reason 'the release is out'",
		Args:    cli.Arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return conn.Change(func(c *client.Client) error {
				a, err := c.RevokeApproval(cmd.Context(), args[0], reason)
				if err != nil {
					return err
				}
				if format.JSON() {
					return cli.WriteJSON(p.Stdout, revokedView{ID: a.ID, Tool: a.Tool, Ended: a.Ended, End: a.End, Revoked: a.End == tool.ApprovalRevoked})
				}
				_, err = fmt.Fprintf(p.Out(), "%s of %s has ended: %s; toolhosts that share a database with this one follow within 10 seconds\n", a.ID, a.Tool, stateOfApproval(&a))
				return err
			})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "the reason, for the audit log, as `TEXT`")
	conn.AddFlag(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}
