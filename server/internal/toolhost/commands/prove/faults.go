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
	unplug   fault = "plugin kill"      // of the plugin of a toolhost alone, with SIGKILL
	declared fault = "kill and gone"    // a toolhost is killed, and `toolhost nodes gone` says so
	paused   fault = "pause"            // of a toolhost, with SIGSTOP, for longer than its lease
	stopped  fault = "restart"          // of a toolhost, with SIGTERM
	crashed  fault = "database kill"    // of PostgreSQL
	rested   fault = "database restart" // of PostgreSQL
	severed  fault = "cut"              // of all sessions with PostgreSQL
	both     fault = "kill of both"     // of a toolhost and PostgreSQL in the same moment
)

var faults = []fault{killed, unplug, paused, stopped, crashed, rested, severed, both, declared}

const (
	// mostDown bounds how long a server is down. Below it, calls wait for the database.
	mostDown = 1500 * time.Millisecond
	// aBeat is longer than what a toolhost lets pass between two signs of life.
	aBeat = 1500 * time.Millisecond
	// aLease is longer than any time after which others conclude something from the silence of a
	// toolhost: they list it as silent after 3 seconds, count it as silent after 10, and ask a check
	// that seals after 10. The toolhost itself accepts no tokens then.
	aLease = 12 * time.Second
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
		return n.pause(ctx, victim, asked)
	case unplug:
		return n.killPlugin(ctx, victim)
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

// pause stops a toolhost beyond its lease, lets asked ask others for its calls, and continues it.
// Its plugins go on meanwhile.
func (n *nodes) pause(ctx context.Context, victim *node, asked func(paused *node) error) error {
	victim.server.Signal(syscall.SIGSTOP)
	defer victim.server.Signal(syscall.SIGCONT)
	end := time.Now().Add(aLease)
	cli.Wait(ctx, aBeat)
	if err := asked(victim); err != nil {
		return err
	}
	cli.Wait(ctx, time.Until(end))
	found, err := n.listed(ctx, victim)
	if err == nil && found.State != "silent" {
		err = fmt.Errorf("`toolhost nodes` says of a toolhost that is paused that it is %s", found.State)
	}
	return err
}

// killPlugin kills the processes of the plugin of a toolhost. A toolhost that has just started may
// have none yet.
func (n *nodes) killPlugin(ctx context.Context, victim *node) error {
	for {
		killed := false
		for _, pid := range plugins(ctx, victim.tools) {
			killed = syscall.Kill(pid, syscall.SIGKILL) == nil || killed
		}
		if killed {
			return nil
		}
		if !cli.Wait(ctx, poll) {
			return context.Cause(ctx)
		}
	}
}
