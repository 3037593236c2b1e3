package prove

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

const (
	maxNodes  = 9
	maxCalls  = 1_000_000
	maxRounds = maxCalls / callsOfRound
	mostWrong = 20 // calls that people read about
)

// nodesTally counts what became of the calls of one tool at several toolhosts.
type nodesTally struct {
	tally
	Changed int `json:"changed"` // had two answers, of which the first was not that it is unknown
}

func (t *nodesTally) plus(u nodesTally) {
	t.tally.plus(u.tally)
	t.Changed += u.Changed
}

func (t *nodesTally) holds(checked bool) bool { return t.tally.holds(checked) && t.Changed == 0 }

// nodesReport is what -o json prints with --nodes.
type nodesReport struct {
	OK           bool          `json:"ok"`
	Seed         uint64        `json:"seed"`
	Nodes        int           `json:"nodes"`
	Faults       map[fault]int `json:"faults"`
	WithoutCheck nodesTally    `json:"without_check"`
	WithCheck    nodesTally    `json:"with_check"`
	WithSealing  nodesTally    `json:"with_sealing_check"`
	Loss         loss          `json:"loss"`
	DurationMS   int64         `json:"duration_ms"`
	Wrong        []string      `json:"wrong,omitempty"`  // the calls for which a promise does not hold
	Folder       string        `json:"folder,omitempty"` // of a failure
}

// checkNodes checks the flags that are about several toolhosts.
func (o *options) checkNodes(changed func(string) bool) error {
	switch {
	case !changed("nodes") && (changed("calls") || changed("for")):
		return cli.Usage("--calls and --for are about several toolhosts: give --nodes, too")
	case !changed("nodes"):
		return nil
	case changed("kills") || changed("plugin"):
		return cli.Usage("--kills is about one toolhost: with --nodes, give --calls or --for")
	case changed("calls") && changed("for"):
		return cli.Usage("give --calls or --for, and not both")
	case o.nodes < 2 || o.nodes > maxNodes:
		return cli.Usage("--nodes: use a number from 2 to %d", maxNodes)
	case o.calls < 1 || o.calls > maxCalls:
		return cli.Usage("--calls: use a number from 1 to %d", maxCalls)
	case o.lasts < 0:
		return cli.Usage("--for: use a duration such as 10m")
	}
	return nil
}

// proveNodes makes faults for several toolhosts and prints the report.
func (o *options) proveNodes(ctx context.Context, p cli.Process) (err error) {
	began := time.Now()
	n, err := openNodes(ctx, o.nodes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.close()) }()
	count, extent := (o.calls+callsOfRound-1)/callsOfRound, ""
	if o.lasts > 0 {
		count, extent = maxRounds, fmt.Sprintf("faults for %v", o.lasts)
	} else {
		extent = cli.Count(count, "fault")
	}
	fmt.Fprintf(p.Err(), "toolhost: %s with seed %d, with %d toolhosts and a PostgreSQL, in %s\n", extent, o.seed, o.nodes, n.folder)
	rounds := roundsOfNodes{nodes: n, random: rand.New(rand.NewPCG(o.seed, 2)), made: map[fault]int{}}
	r := nodesReport{Seed: o.seed, Nodes: o.nodes, Faults: rounds.made}
	err = rounds.run(ctx, planFaults(count, o.nodes, o.seed), o.lasts)
	if err == nil {
		r.Loss, err = rounds.lose(ctx)
	}
	if err == nil {
		err = rounds.askAgain(ctx)
	}
	stuck := errors.Is(err, errStuck)
	var tallies map[countTool]*nodesTally
	if err == nil || stuck {
		tallies, r.Wrong, err = rounds.tallies()
	}
	if err != nil {
		return failed(ctx, n, err)
	}
	r.WithoutCheck, r.WithCheck, r.WithSealing = *tallies[unchecked], *tallies[checked], *tallies[sealed]
	r.OK = !stuck && r.WithoutCheck.holds(false) && r.WithCheck.holds(true) && r.WithSealing.holds(true)
	r.DurationMS = time.Since(began).Milliseconds()
	if !r.OK {
		if r.Folder, err = n.keep(); err != nil {
			return err
		}
	}
	return o.printNodes(p, r)
}

func (o *options) printNodes(p cli.Process, r nodesReport) error {
	write := r.write
	if o.format.JSON() {
		write = func(p cli.Process) error { return cli.WriteJSON(p.Stdout, r) }
	}
	return verdict(write(p), r.OK)
}

// write prints the report for people.
func (r *nodesReport) write(p cli.Process) error {
	faults := 0
	for _, n := range r.Faults {
		faults += n
	}
	row := func(name string, t nodesTally) []string {
		cells := []string{name}
		for _, n := range []int{faults, t.Calls, t.Doubled, t.Lost, t.Unknown, t.Settled, t.Stuck, t.Changed} {
			cells = append(cells, strconv.Itoa(n))
		}
		return cells
	}
	rows := [][]string{row("without a check", r.WithoutCheck), row("with a check", r.WithCheck), row("with one that seals", r.WithSealing)}
	header := strings.Fields("TOOL FAULTS CALLS DOUBLED LOST UNKNOWN SETTLED STUCK CHANGED")
	if err := cli.WriteTable(p.Stdout, p.Screen(), header, rows); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(p.Out(), "faults: %s\n%v\n", countFaults(r.Faults), &r.Loss); err != nil {
		return err
	}
	for _, text := range r.Wrong[:min(len(r.Wrong), mostWrong)] {
		fmt.Fprintf(p.Err(), "toolhost: %s\n", cli.OneLine(text))
	}
	return explain(p, r.OK, r.Folder)
}
