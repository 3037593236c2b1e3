package commands

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore/postgres"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/sqlite"
	database "github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// migrated is the result of a move, as -o json prints it.
type migrated struct {
	postgres.Moved
	From string `json:"from"`
	To   string `json:"to"`
}

func newMigrateCommand(p cli.Process) *cobra.Command {
	s := &setup{process: p}
	var from string
	var check bool
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Move the runs from a file into a database",
		Long: "Migrate moves all runs of a journal in a file into the PostgreSQL database that journal in agentd.yaml, or --journal,\n" +
			"names: their events, decisions, attachments and messages, what their owners have spent, and the ids of deleted runs. No\n" +
			"agentd may use the file. It compares what it has copied. Afterwards no agentd uses the file, and an `agentd serve` of\n" +
			"the database goes on with the runs. If migrate fails or is interrupted, repeat it. See docs/postgresql.md.\n" +
			"--check copies and compares everything, then takes it back; agentd may use the file meanwhile.\n" +
			"With -o json it prints an object: runs, unfinished_runs, foreground_runs, records, deleted_runs, from, to, and already\n" +
			"if an earlier migrate has moved them.",
		Example: "  agentd migrate --check --journal postgres://agentd@db.example/agentd",
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.load(cmd.Context()); err != nil {
				return err
			}
			url, err := s.place().database()
			if err != nil {
				return err
			}
			if url == "" {
				return cli.Usage("journal in agentd.yaml, or --journal, must name the database that gets the runs; --from names the file")
			}
			if from == "" {
				from = filepath.Join(s.stateFolder(), journalName)
			}
			if from, err = filepath.Abs(from); err != nil {
				return fmt.Errorf("--from: %w", err)
			}
			done, err := migrate(cmd.Context(), from, postgres.Move{Database: database.Config{URL: url, Application: program}, Check: check})
			if err != nil {
				return err
			}
			if format.JSON() {
				return cli.WriteJSON(p.Stdout, done)
			}
			return done.print(p, check)
		},
	}
	s.addJournalFlags(cmd.Flags())
	cmd.Flags().StringVar(&from, "from", "", "move the runs of this `FILE`; by default "+journalName+" in the state folder")
	cmd.Flags().BoolVar(&check, "check", false, "say what would be moved and whether it can be, and change no run")
	format.AddFlag(cmd.Flags())
	return cmd
}

// migrate moves the runs of a journal in a file, which only a check may share.
func migrate(ctx context.Context, path string, move postgres.Move) (_ *migrated, err error) {
	if err := trust.Secure(filepath.Dir(path)); err != nil {
		return nil, err
	}
	own := ownJournal
	if move.Check {
		own = useJournal
	}
	lock, err := own(path)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	if err := checkRestored(path); err != nil {
		return nil, err
	}
	file, err := sqlite.Depart(ctx, path, move.Check)
	if err != nil {
		return nil, fmt.Errorf("%w; name another file with --from", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	move.Left, move.At = file.ID, file.At
	done := &migrated{From: path, To: database.Name(move.Database.URL)}
	done.Moved, err = move.Of(ctx, file)
	return done, err
}

func (m *migrated) print(p cli.Process, check bool) error {
	out := p.Out()
	what := fmt.Sprintf("%s, %d of them unfinished, and %s", cli.Count(m.Runs, "run"), m.Unfinished, cli.Count(m.Records, "event"))
	switch {
	case m.Already:
		fmt.Fprintf(out, "the runs of %s were moved to %s before\n", m.From, m.To)
		return nil
	case check:
		fmt.Fprintf(out, "the runs of %s can be moved: %s\n", m.From, what)
	default:
		fmt.Fprintf(out, "moved the runs of %s to %s: %s\n", m.From, m.To, what)
	}
	if m.Foreground > 0 {
		fmt.Fprintf(out, "%s of `agentd run` or `agentd chat` had not ended, and no agentd of a database goes on with it by itself\n", cli.Count(m.Foreground, "run"))
	}
	return nil
}
