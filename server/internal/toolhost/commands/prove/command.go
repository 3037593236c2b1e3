package prove

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

const (
	// usualKills is three for each victim and place. Both tools together take less than two minutes on
	// two processors.
	usualKills = 48
	maxKills   = 100_000
)

// options are the flags of `prove`.
type options struct {
	kills  int
	seed   uint64
	plugin string // the folder of another plugin with the same tools; empty: that of this program
	format cli.Format

	nodes int // 0: one toolhost, and the agentd beside it
	calls int
	lasts time.Duration
}

// NewCommand returns the command `prove`.
func NewCommand(p cli.Process) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "prove",
		Short: "Kill processes in the middle of calls, and count what became of the calls",
		Long: "Prove starts its own toolhost, and the agentd beside this program with a scripted model, in a temporary folder. A plugin\n" +
			"leaves a receipt for each execution of its two tools: one cannot say what became of a lost call, the other can (settle).\n" +
			"Prove makes runs with three calls each. In each run it kills the plugin, toolhost, agentd or all of them with SIGKILL:\n" +
			"before the effect of a call, during it, after it, and at a random moment. It starts them again, waits for the end of the\n" +
			"run, and compares what the caller was told with the receipts. A running toolhost is not involved, and no key is needed.\n\n" +
			"DOUBLED calls had their effect twice. LOST calls ended with a result without their effect, or failed. UNKNOWN calls ended\n" +
			"with outcome_unknown. SETTLED calls would have, but their tool said what became of them. STUCK calls had no end.\n\n" +
			"With --nodes, several toolhosts share a ledger in a PostgreSQL that prove starts for itself, without an agentd. Callers send\n" +
			"each call to one of them and repeat it at others. A third tool has a check that seals. Prove kills, pauses (SIGSTOP) and\n" +
			"restarts toolhosts and PostgreSQL, kills plugins alone, cuts the sessions, and says of killed toolhosts that they are gone\n" +
			"(`toolhost nodes gone`). CHANGED calls had a result or a failure, and then another answer; if a toolhost and PostgreSQL are\n" +
			"killed in the same moment, answers of before do not count. In the end, a toolhost is killed and does not come back for some\n" +
			"seconds: prove says how many calls of clients that know all toolhosts failed, and until when.\n\n" +
			"Exit codes: 0 nothing was doubled, lost, stuck or changed, and with a check nothing is unknown; 1 otherwise, and the folder stays.",
		Example: "  toolhost prove\n  toolhost prove --kills 300 --seed 7\n  toolhost prove --nodes 3",
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.kills < 1 || o.kills > maxKills {
				return cli.Usage("--kills: use a number from 1 to %d", maxKills)
			}
			if err := o.checkNodes(cmd.Flags().Changed); err != nil {
				return err
			}
			if !cmd.Flags().Changed("seed") {
				o.seed = rand.Uint64N(1 << 32)
			}
			if o.nodes > 0 {
				return o.proveNodes(cmd.Context(), p)
			}
			return o.prove(cmd.Context(), p)
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.kills, "kills", usualKills, "kill `N` times for each of the two tools")
	f.Uint64Var(&o.seed, "seed", 0, "the `NUMBER` that determines the order of the kills (default: a new one, which is printed)")
	f.IntVar(&o.nodes, "nodes", 0, "let `N` toolhosts share a ledger in PostgreSQL")
	f.IntVar(&o.calls, "calls", len(faults)*callsOfRound, "with --nodes, make at least `N` calls, with a fault for each 100")
	f.DurationVar(&o.lasts, "for", 0, "with --nodes, make faults for a `DURATION` such as 10m instead")
	f.StringVar(&o.plugin, "plugin", "", "the folder `DIR` of a plugin in another language with the same tools")
	_ = f.MarkHidden("plugin") // cannot fail: the flag exists
	o.format.AddFlag(f)
	return cmd
}

// report is what -o json prints.
type report struct {
	OK           bool   `json:"ok"`
	Seed         uint64 `json:"seed"`
	Agentd       bool   `json:"agentd"` // an agent made the calls
	WithoutCheck tally  `json:"without_check"`
	WithCheck    tally  `json:"with_check"`
	DurationMS   int64  `json:"duration_ms"`
	Folder       string `json:"folder,omitempty"` // of a failure
}

// prove kills processes and prints the report.
func (o *options) prove(ctx context.Context, p cli.Process) (err error) {
	began := time.Now()
	l, err := openLab(ctx, o.plugin)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	caller := "an agent"
	if l.agents == nil {
		caller = "this command, because there is no agentd beside it"
	}
	fmt.Fprintf(p.Err(), "toolhost: %d kills with seed %d, in %s; the caller is %s\n", 2*o.kills, o.seed, l.folder, caller)
	r := report{Seed: o.seed, Agentd: l.agents != nil}
	for _, t := range []struct {
		of    countTool
		tally *tally
	}{{unchecked, &r.WithoutCheck}, {checked, &r.WithCheck}} {
		trial := trial{lab: l, tool: t.of}
		err := trial.run(ctx, plan(o.kills, o.seed, r.Agentd))
		*t.tally = trial.tally
		if err != nil {
			return failed(ctx, l, err)
		}
	}
	r.OK = r.WithoutCheck.holds(false) && r.WithCheck.holds(true)
	r.DurationMS = time.Since(began).Milliseconds()
	if !r.OK {
		if r.Folder, err = l.keep(); err != nil {
			return err
		}
	}
	return o.print(p, r)
}

// failed keeps the folder if the cause may be found in it.
func failed(ctx context.Context, l interface{ keep() (string, error) }, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	kept, renaming := l.keep()
	return errors.Join(fmt.Errorf("%w; the files stay in %s", err, kept), renaming)
}

func (o *options) print(p cli.Process, r report) error {
	write := r.write
	if o.format.JSON() {
		write = func(p cli.Process) error { return cli.WriteJSON(p.Stdout, r) }
	}
	return verdict(write(p), r.OK)
}

// verdict returns the end of the command after its report.
func verdict(err error, ok bool) error {
	if err == nil && !ok {
		return &cli.ExitError{Code: cli.ExitToolError}
	}
	return err
}

// write prints the report for people.
func (r *report) write(p cli.Process) error {
	row := func(name string, t tally) []string {
		cells := []string{name}
		for _, n := range []int{t.Kills, t.Calls, t.Doubled, t.Lost, t.Unknown, t.Settled, t.Stuck} {
			cells = append(cells, strconv.Itoa(n))
		}
		return cells
	}
	rows := [][]string{row("without a check", r.WithoutCheck), row("with a check", r.WithCheck)}
	if err := cli.WriteTable(p.Stdout, p.Screen(), strings.Fields("TOOL KILLS CALLS DOUBLED LOST UNKNOWN SETTLED STUCK"), rows); err != nil {
		return err
	}
	return explain(p, r.OK, r.Folder)
}

// explain says where to look if a promise does not hold.
func explain(p cli.Process, ok bool, folder string) (err error) {
	if !ok {
		_, err = fmt.Fprintf(p.Err(), "toolhost: a promise does not hold; see `toolhost prove --help`; the files stay in %s\n", folder)
	}
	return err
}
