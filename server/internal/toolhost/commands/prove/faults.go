package prove

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// fault is what happens to toolhosts that share a ledger, or to their database.
type fault string

// The faults. Each ends with all servers running.
const (
	killed   fault = "kill"             // of a toolhost, with SIGKILL
	declared fault = "kill and gone"    // a toolhost is killed, and `toolhost nodes gone` says so
	paused   fault = "pause"            // of a toolhost, with SIGSTOP, for longer than its beat
	stopped  fault = "restart"          // of a toolhost, with SIGTERM
	crashed  fault = "database kill"    // of PostgreSQL
	rested   fault = "database restart" // of PostgreSQL
	severed  fault = "cut"              // of all sessions with PostgreSQL
	both     fault = "kill of both"     // of a toolhost and PostgreSQL in the same moment
)

var faults = []fault{killed, paused, stopped, crashed, rested, severed, both, declared}

const (
	// mostDown bounds how long a server is down. Below it, calls wait for the database.
	mostDown = 1500 * time.Millisecond
	// aBeat is longer than what a toolhost lets pass between two signs of life.
	aBeat = 1500 * time.Millisecond
	// durable is after how long the database has what it has confirmed on its disk at the latest.
	durable = 1500 * time.Millisecond
)

// strike is a fault that is planned.
type strike struct {
	fault  fault
	victim int           // the number of the toolhost, for those of a toolhost
	after  float64       // the part of the calls of the round that have begun before it
	down   time.Duration // how long a server is down
}

// planFaults returns n strikes in an order that a seed determines. Each fault happens once before
// one happens again.
func planFaults(n, nodes int, seed uint64) []strike {
	random := rand.New(rand.NewPCG(seed, 1))
	var plan []strike
	for len(plan) < n {
		round := slices.Clone(faults)
		random.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
		for _, f := range round {
			plan = append(plan, strike{f, random.IntN(nodes), 0.2 + 0.6*random.Float64(), time.Duration(random.Int64N(int64(mostDown)))})
		}
	}
	return plan[:n]
}

// countFaults returns how often each fault was made, as text.
func countFaults(made map[fault]int) string {
	var parts []string
	for _, f := range faults {
		if made[f] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", made[f], f))
		}
	}
	return strings.Join(parts, ", ")
}

// hit makes a fault, and starts again what it has ended. asked is called while a toolhost is
// paused.
func (n *nodes) hit(ctx context.Context, s strike, asked func(paused *node) error) error {
	victim := n.all[s.victim]
	switch s.fault {
	case killed:
		victim.kill()
		cli.Wait(ctx, s.down)
	case stopped:
		victim.stop()
		cli.Wait(ctx, s.down)
	case declared:
		if err := n.killAndDeclare(ctx, victim); err != nil {
			return err
		}
	case paused:
		victim.server.Signal(syscall.SIGSTOP) // its plugins go on
		defer victim.server.Signal(syscall.SIGCONT)
		cli.Wait(ctx, aBeat)
		return asked(victim)
	case crashed:
		n.database.stop(syscall.SIGQUIT)
		cli.Wait(ctx, s.down)
	case rested:
		n.database.stop(syscall.SIGINT)
		cli.Wait(ctx, s.down)
	case severed:
		return n.database.cut(ctx)
	case both:
		var group sync.WaitGroup
		group.Go(victim.kill)
		group.Go(func() { n.database.stop(syscall.SIGQUIT) })
		group.Wait()
		cli.Wait(ctx, s.down)
	}
	if n.database.server == nil {
		if err := n.database.start(ctx); err != nil {
			return err
		}
	}
	return n.start(ctx, victim)
}
