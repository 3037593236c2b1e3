package operate

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// NewRevisionsCommand returns the command `revisions`.
func NewRevisionsCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "revisions PLUGIN",
		Short: "List the executables that a plugin had, and which ones a rollback can return to",
		Long: "Revisions lists which executables of a plugin came into service, newest first: when, by which principal, and why.\n" +
			"toolhost remembers the last 10, also when it starts again, and keeps copies of up to 5 executables. STATE is current,\n" +
			"or kept: `toolhost rollback PLUGIN REVISION` returns to it. Of the others, toolhost has no copy, or may not run it.\n" +
			"With -o json it prints an array of objects: revision, digest, time, cause, principal, reason, current and kept.",
		Example:           "  toolhost revisions calculator",
		Args:              cli.Arguments(1, 1),
		ValidArgsFunction: conn.CompletePlugin,
		RunE: func(cmd *cobra.Command, args []string) error {
			return conn.With(func(c *client.Client) error {
				revisions, err := c.Admin().Revisions(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if format.JSON() {
					return cli.WriteJSON(p.Stdout, revisions)
				}
				rows := [][]string{}
				for _, r := range revisions {
					rows = append(rows, revisionRow(r))
				}
				return cli.WriteTable(p.Stdout, p.Screen(), []string{"REVISION", "TIME", "DIGEST", "STATE", "BY", "WHY"}, rows)
			})
		},
	}
	conn.AddFlag(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}

func revisionRow(r tool.Revision) []string {
	at, state := "-", "-"
	if !r.Time.IsZero() {
		at = r.Time.Local().Format("2006-01-02 15:04:05")
	}
	switch {
	case r.Current:
		state = "current"
	case r.Kept:
		state = "kept"
	}
	why := revisionCauses[r.Cause]
	if why == "" {
		why = cli.Dash(string(r.Cause))
	}
	if r.Reason != "" {
		why += fmt.Sprintf(": %q", r.Reason)
	}
	return []string{strconv.FormatUint(r.Number, 10), at, cli.ShortDigest(r.Digest), state, cli.Dash(r.Principal), why}
}

// revisionCauses are the words for the causes of revisions.
var revisionCauses = map[tool.RevisionCause]string{
	tool.RevisionAdded: "added", tool.RevisionChanged: "its file changed", tool.RevisionUpgraded: "upgrade",
	tool.RevisionRolledBack: "rollback", tool.RevisionLocked: "the lock file changed",
}
