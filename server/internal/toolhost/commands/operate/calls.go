package operate

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// NewCallsCommand returns the command `calls`.
func NewCallsCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var format cli.Format
	var query tool.CallQuery
	var state string
	var since cli.Since
	last := 0
	cmd := &cobra.Command{
		Use:   "calls [CALL-ID]",
		Short: "List calls that are under way or remembered",
		Long: "Calls lists the calls that are under way and those that ended and are remembered, of all users, the newest last.\n" +
			"Calls with side effects are remembered for days, also after a restart of toolhost; others for as long as there is\n" +
			"room. Calls without an id of their caller's choice, such as those of `toolhost call` without --call-id, and calls that\n" +
			"toolhost refused, are listed for 15 minutes after their end, and those that failed also after a restart.\n\n" +
			"`toolhost watch CALL-ID` shows what a call says and how it ended, `toolhost cancel CALL-ID` stops it.\n" +
			"With -o json it prints an array of objects.",
		Example: "  toolhost calls --state running\n  toolhost calls --plugin fs --last 5",
		Args:    cli.Arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			states := []string{"", string(tool.CallRunning), string(tool.CallSucceeded), string(tool.CallToolError), string(tool.CallNeedsApproval), string(tool.CallFailed)}
			if !slices.Contains(states, state) {
				return cli.Usage("--state: %q is none; use running, succeeded, tool_error, needs_approval or failed", state)
			}
			if last < 0 {
				return cli.Usage("--last: %d is negative; use 0 for all", last)
			}
			query.State, query.Since = tool.CallState(state), since.Time()
			if len(args) == 1 {
				query.CallID = args[0]
			}
			return conn.With(func(c *client.Client) error {
				return showCalls(cmd.Context(), c, p, query, last, format.JSON())
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&query.Plugin, "plugin", "", "only calls of this `PLUGIN`")
	f.StringVar(&query.Tool, "tool", "", "only calls of this `TOOL`")
	f.StringVar(&query.Session, "session", "", "only calls of this `SESSION`")
	f.StringVar(&state, "state", "", "only calls in this `STATE`: running, succeeded, tool_error, needs_approval or failed")
	tenantFlag(f, &query.Tenants, "calls")
	since.AddFlag(f, "only calls from this `TIME` on: 24h or 7d ago, or 2026-01-31")
	f.IntVar(&last, "last", 100, "the newest `N` of them, 0 for all")
	conn.AddFlag(f)
	format.AddFlag(f)
	return cmd
}

// callView is a call as -o json prints it.
type callView struct {
	tool.CallRecord
	Error *errorView `json:"error,omitempty"` // replaces the record's error, which has no JSON form
}

func showCalls(ctx context.Context, c *client.Client, p cli.Process, q tool.CallQuery, last int, asJSON bool) error {
	calls := []tool.CallRecord{}
	for more := true; more; more = q.PageToken != "" && (last == 0 || len(calls) < last) {
		q.PageSize = 1000
		if last > 0 {
			q.PageSize = min(last-len(calls), 1000)
		}
		page, err := c.Admin().Calls(ctx, q)
		if err != nil {
			return err
		}
		calls = append(calls, page.Calls...)
		q.PageToken = page.NextPageToken
	}
	slices.Reverse(calls)
	if !asJSON && len(calls) == 0 {
		fmt.Fprintln(p.Err(), "no such call runs or is remembered; one without an id of its caller's choice is listed for 15 minutes after its end")
		return nil
	}
	if !asJSON {
		return writeCalls(p.Stdout, p.Screen(), calls)
	}
	views := []callView{}
	for _, r := range calls {
		views = append(views, callView{CallRecord: r, Error: viewError(r.Err)})
	}
	return cli.WriteJSON(p.Stdout, views)
}

func writeCalls(w io.Writer, screen cli.Screen, calls []tool.CallRecord) error {
	return cli.WriteTable(w, screen, callHeader, callRows(calls))
}

// settledWords says in one line what the tool said about a call whose outcome was unknown.
func settledWords(s *tool.Settlement) string {
	words := map[tool.Verdict]string{
		tool.VerdictHappened: "settled: it happened", tool.VerdictDidNotHappen: "settled: it did not happen the first time",
	}[s.Verdict]
	if s.Reason != "" {
		words += ": " + s.Reason
	}
	return words
}

var callHeader = []string{"CALL", "SESSION", "PRINCIPAL", "TOOL", "INSTANCE", "STATE", "STARTED", "TOOK", "WHY"}

func callRows(calls []tool.CallRecord) [][]string {
	rows := [][]string{}
	for _, r := range calls {
		took, why := "-", ""
		if !r.EndTime.IsZero() {
			took = short(max(r.EndTime.Sub(r.StartTime), time.Microsecond))
		}
		if r.Err != nil {
			why = string(r.Err.Kind) + ": " + r.Err.Message
		}
		if r.Settled != nil && r.Settled.Verdict != tool.VerdictUnknown { // otherwise the error says it
			why = settledWords(r.Settled)
		}
		rows = append(rows, []string{
			r.CallID, cli.Dash(r.Session), r.Principal, r.Tool, cmp.Or(r.Instance, r.Plugin) + onNode(r), string(r.State), clock(r.StartTime),
			took, cli.Clip(cli.OneLine(why), 80),
		})
	}
	return rows
}

// onNode says which toolhost had a call, if it was another one.
func onNode(r tool.CallRecord) string {
	if r.Node == "" {
		return ""
	}
	return " on " + r.Node
}
