package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/operate"
	"github.com/toolhost/toolhost/tool"
)

func newLogoutCommand(p cli.Process) *cobra.Command {
	conn := operate.Connection{Process: p}
	cmd := &cobra.Command{
		Use:   "logout PLUGIN",
		Short: "End your login at an MCP server",
		Long: "Logout ends your login at an MCP server. Your calls fail from then on, and toolhost asks the authorization server to\n" +
			"revoke the tokens. The logins of others stay.",
		Example: "  toolhost mcp logout docs",
		Args:    cli.Arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return conn.Change(func(c *client.Client) error {
				out, err := c.Logout(cmd.Context(), args[0])
				switch {
				case err != nil:
					return err
				case !out.WasLoggedIn:
					fmt.Fprintf(p.Out(), "you were not logged in to %s\n", args[0])
				case out.RevocationProblem != "":
					fmt.Fprintf(p.Out(), "logged out of %s\n", args[0])
					fmt.Fprintf(p.Err(), "the tokens are removed here, but they were not revoked: %s\n", out.RevocationProblem)
				default:
					fmt.Fprintf(p.Out(), "logged out of %s; the tokens are revoked\n", args[0])
				}
				return nil
			})
		},
	}
	conn.AddFlag(cmd.Flags())
	return cmd
}

func newStatusCommand(p cli.Process) *cobra.Command {
	conn := operate.Connection{Process: p}
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "status [PLUGIN]",
		Short: "Show the MCP servers that require a login, and yours",
		Long: "Status lists the MCP servers that require OAuth, and your login at each. Only you see your logins.\n" +
			"With -o json it prints an array of objects.",
		Example: "  toolhost mcp status\n  toolhost mcp status docs -o json",
		Args:    cli.Arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return conn.With(func(c *client.Client) error {
				return showLogins(cmd.Context(), c, p, strings.Join(args, ""), format.JSON())
			})
		},
	}
	conn.AddFlag(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}

func showLogins(ctx context.Context, c *client.Client, p cli.Process, plugin string, asJSON bool) error {
	logins, err := c.Logins(ctx, plugin)
	if err != nil {
		return err
	}
	if asJSON {
		return cli.WriteJSON(p.Stdout, logins)
	}
	rows := [][]string{}
	for _, l := range logins {
		rows = append(rows, []string{l.Plugin, loginState(l), strings.Join(l.Scopes, " "), lasting(l), l.Issuer, l.URL})
	}
	return cli.WriteTable(p.Stdout, p.Screen(), []string{"PLUGIN", "STATE", "SCOPES", "UNTIL", "AUTHORIZATION SERVER", "URL"}, rows)
}

func loginState(l tool.Login) string {
	switch {
	case l.Grant == "client_credentials":
		return "needs no login"
	case !l.LoggedIn:
		return "not logged in"
	case l.Problem != "":
		return "log in again: " + l.Problem
	case len(l.MissingScopes) > 0:
		return "log in again for: " + strings.Join(l.MissingScopes, " ")
	}
	return "logged in"
}

func lasting(l tool.Login) string {
	switch {
	case !l.LoggedIn:
		return ""
	case l.Renews:
		return "renewed"
	case l.Expires.IsZero():
		return "unknown"
	}
	return l.Expires.Local().Format(time.DateTime)
}
