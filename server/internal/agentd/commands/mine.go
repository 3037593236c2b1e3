package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

func newMineCommand(p cli.Process) *cobra.Command {
	s := &server{setup: setup{process: p}}
	var format cli.Format
	var limit int
	cmd := &cobra.Command{
		Use:   "mine",
		Short: "List what you have decided, and the standing approvals that you gave",
		Long: "Mine lists what you have decided in runs, the newest first, as long as the runs exist. Of an agentd serve it then lists the\n" +
			"standing approvals that you gave and that are in force, each with its id for `agentd inbox revoke`. In them, DIR/… is a path\n" +
			"at or below DIR, ORIGIN/… a URL of that origin, and … any value.\n\n" +
			"With -o json it prints one object per line: {\"decision\": …} as `agentd inbox DECISION -o json` prints it, or\n" +
			"{\"approval\": …}.",
		Example: "  agentd inbox mine\n  agentd inbox mine --limit 0 -o json",
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 0 {
				return cli.Usage("--limit: %d is below zero; 0 is all", limit)
			}
			reach, served, err := s.open()
			if err != nil {
				return err
			}
			return reach(cmd.Context(), func(a *client.AgentClient) error {
				made, err := listMade(cmd.Context(), a, limit)
				if err != nil {
					return err
				}
				missing := []string{"the standing approvals of this user are at toolhost: toolhost approvals list"}
				var given []tool.StandingApproval
				if served {
					if given, missing, err = listGiven(cmd.Context(), a); err != nil {
						return err
					}
				}
				return errors.Join(printMine(p, made, given, format.JSON()), sayMissing(p, missing))
			})
		},
	}
	s.setup.addJournalFlags(cmd.Flags())
	s.addServerFlags(cmd.Flags())
	cmd.Flags().IntVar(&limit, "limit", 50, "at most `N` decisions; 0 is all")
	format.AddFlag(cmd.Flags())
	return cmd
}

// listMade returns at most limit decisions of the user, the newest first. 0 means all.
func listMade(ctx context.Context, a *client.AgentClient, limit int) (list []client.InboxDecision, err error) {
	for query := (client.InboxQuery{PageSize: limit}); ; {
		page, err := a.MadePage(ctx, query)
		if err != nil {
			return nil, err
		}
		list = append(list, page.Decisions...)
		if limit > 0 && len(list) >= limit {
			return list[:limit], nil
		}
		if query.PageToken = page.NextPageToken; query.PageToken == "" {
			return list, nil
		}
	}
}

// listGiven returns the standing approvals in force that the user gave. missing says why there are
// none to list, although the decisions are.
func listGiven(ctx context.Context, a *client.AgentClient) (list []tool.StandingApproval, missing []string, err error) {
	for query := (tool.ApprovalQuery{}); ; {
		page, err := a.Approvals(ctx, query)
		switch tool.KindOf(err) {
		case tool.KindUnavailable, tool.KindDenied, tool.KindUnsupported:
			return nil, []string{"the standing approvals are missing: " + err.Error()}, nil
		}
		if err != nil {
			return nil, nil, err
		}
		list = append(list, page.Approvals...)
		if query.PageToken = page.NextPageToken; query.PageToken == "" {
			return list, nil, nil
		}
	}
}

// mineView is a line of -o json. One of the fields is set.
type mineView struct {
	Decision *inboxView             `json:"decision,omitempty"`
	Approval *tool.StandingApproval `json:"approval,omitempty"`
}

func printMine(p cli.Process, made []client.InboxDecision, given []tool.StandingApproval, asJSON bool) error {
	decisions, approvals := [][]string{}, [][]string{}
	for i := range made {
		d := &made[i]
		if asJSON {
			v := inboxViewOf(d)
			if err := cli.WriteJSON(p.Stdout, mineView{Decision: &v}); err != nil {
				return err
			}
		}
		decisions = append(decisions, []string{d.Name, whatWaits(&d.PendingDecision), d.Principal, verdictWord(d.Made.Verdict), d.MadeTime.Local().Format(time.DateTime), cli.Clip(detailOf(&d.PendingDecision), promptWidth)})
	}
	for i := range given {
		a := &given[i]
		if asJSON {
			if err := cli.WriteJSON(p.Stdout, mineView{Approval: a}); err != nil {
				return err
			}
		}
		approvals = append(approvals, []string{a.ID, a.Tool, a.Principal, cli.PermittedCalls(a), a.Expires.Local().Format(time.DateTime), cli.Clip(cli.OneLine(cli.PermittedArguments(a)), promptWidth)})
	}
	if asJSON {
		return nil
	}
	if len(made) == 0 {
		if _, err := fmt.Fprintln(p.Err(), "agentd: you have decided nothing in the runs that exist"); err != nil {
			return err
		}
	} else if err := cli.WriteTable(p.Stdout, p.Screen(), strings.Fields("DECISION WHAT FOR VERDICT WHEN DETAIL"), decisions); err != nil {
		return err
	}
	if len(given) == 0 {
		return nil
	}
	if len(made) > 0 {
		if _, err := fmt.Fprintln(p.Stdout); err != nil {
			return err
		}
	}
	if err := cli.WriteTable(p.Stdout, p.Screen(), strings.Fields("APPROVAL TOOL OF FOR EXPIRES ARGUMENTS"), approvals); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.Err(), "agentd: end one: agentd inbox revoke %s\n", cli.OneLine(given[0].ID))
	return err
}

func newRevokeCommand(p cli.Process) *cobra.Command {
	s := &server{setup: setup{process: p}}
	var reason string
	cmd := &cobra.Command{
		Use:   "revoke APPROVAL",
		Short: "End a standing approval that you gave",
		Long: "Revoke ends a standing approval at once, also for calls that wait for their plugin. `agentd inbox mine` lists those that you\n" +
			"gave. agentd asks its toolhost in your name, so you need the right to approve calls in the tenant, as you did to give it.",
		Example: "  agentd inbox revoke approval-OHLCSUXVZ5BCMPXCLDTGQ5NEGI --reason 'the release is out'",
		Args:    cli.Arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.change(cmd.Context(), func(a *client.AgentClient) error {
				ended, err := a.RevokeApproval(cmd.Context(), args[0], reason)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(p.Out(), "%s of %s has ended: %s\n", cli.OneLine(ended.ID), cli.OneLine(ended.Tool), cli.OneLine(string(ended.End)))
				return err
			})
		},
	}
	s.addFlags(cmd.Flags())
	cmd.Flags().StringVar(&reason, "reason", "", "the reason, for the audit log of toolhost, as `TEXT`")
	return cmd
}
