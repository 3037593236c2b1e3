package maintain

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/server/internal/store/backup"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	ledger "github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/serve"
)

// migrated is the result of a move, as -o json prints it.
type migrated struct {
	ledger.Moved
	From     string   `json:"former_ledger"` // the id of the ledger in the file
	Warnings []string `json:"warnings"`
}

// NewMigrateCommand returns the command `migrate`.
func NewMigrateCommand(p cli.Process) *cobra.Command {
	var where stateFlags
	var check bool
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Move the ledger of calls from a file into the database of records",
		Long: "Migrate moves all calls of a toolhost whose ledger is in a file into the database that records in toolhost.yaml names:\n" +
			"their ids, outcomes, arguments, settlements and times. The toolhost must have stopped. A call that was under way has an\n" +
			"unknown outcome. The id of the former ledger stays valid, unless the database has lost an earlier migrate.\n" +
			"Afterwards no toolhost starts with the file. If migrate fails or is interrupted, repeat it. See docs/shared-ledger.md.\n" +
			"--check copies and compares everything, then takes it back; the toolhost may run meanwhile.\n" +
			"With -o json it prints an object: calls, unknown, results, ledger, former_ledger, warnings, already if an earlier\n" +
			"migrate has moved them, and lost if the former id is not valid.",
		Example: "  toolhost migrate --check --config /etc/toolhost/toolhost.yaml",
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			files, err := where.flags.StateFiles(p.Getenv)
			if err != nil {
				return err
			}
			database, err := where.database(p)
			if err != nil {
				return err
			}
			done, err := migrate(cmd.Context(), files, ledger.Move{Database: database, Check: check})
			if err != nil {
				return err
			}
			if format.JSON() {
				return cli.WriteJSON(p.Stdout, done)
			}
			return done.print(p, check)
		},
	}
	where.add(cmd)
	cmd.Flags().BoolVar(&check, "check", false, "say what would be moved and whether it can be, and change no call")
	format.AddFlag(cmd.Flags())
	return cmd
}

// migrate moves the ledger of a state folder, which no toolhost may use.
func migrate(ctx context.Context, files serve.StateFiles, move ledger.Move) (_ *migrated, err error) {
	if err := checkOwner(files.State); err != nil {
		return nil, err
	}
	if !move.Check {
		lock, err := catalog.LockState(files.State)
		if err != nil {
			return nil, err
		}
		defer lock.Release()
	}
	if backup.Pending(files.Marker()) {
		return nil, fmt.Errorf("a restore of %s was interrupted; finish it first with: toolhost restore --state %s --resume", files.State, cli.ShellWord(files.State))
	}
	file, err := files.OpenDeparture(ctx, move.Check)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if move.Folder, move.Boot, err = files.Node(); err != nil {
		return nil, err
	}
	move.KeepIDs = files.KeepIDs
	move.Name, _ = os.Hostname() // only for people
	if move.Used, err = files.Used(file.ID); err != nil {
		return nil, err
	}
	done := &migrated{From: file.ID, Warnings: []string{}}
	if done.Moved, err = move.Of(ctx, file); err != nil {
		return nil, err
	}
	if err := files.CheckGrants(ctx); err != nil {
		done.Warnings = append(done.Warnings, err.Error())
	}
	return done, nil
}

func (m *migrated) print(p cli.Process, check bool) error {
	out := p.Out()
	unknown := fmt.Sprintf("%s, %d of them with an unknown outcome, and %s", cli.Count(m.Calls, "call"), m.Unknown, cli.Count(m.Results, "result"))
	switch {
	case m.Already:
		fmt.Fprintf(out, "the calls of the ledger %s were moved before\n", m.From)
	case check:
		fmt.Fprintf(out, "the ledger %s can be moved: %s\n", m.From, unknown)
	default:
		fmt.Fprintf(out, "moved the ledger %s: %s\n", m.From, unknown)
	}
	switch {
	case m.Lost:
		fmt.Fprintf(out, "the ledger of the database is %s. The database has lost calls before, so the former id is not valid any more: start once with --accept-lost-ledger %s\n", m.Ledger, m.From)
	case m.Ledger != m.From:
		fmt.Fprintf(out, "the ledger of the database is %s, and the former id stays valid\n", m.Ledger)
	}
	for _, warning := range m.Warnings {
		fmt.Fprintf(p.Err(), "%s: warning: %s\n", cli.Toolhost, warning)
	}
	return nil
}
