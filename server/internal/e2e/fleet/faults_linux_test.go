//go:build more

package fleet_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
)

// fault is something that happens to one of the servers, and is over when do returns.
type fault struct {
	name string
	do   func(ctx context.Context, victim *server) error
}

// striker makes faults of one sort, one after the other, in an order that its seed determines. Each
// is made once before one is made again.
type striker struct {
	load    *load
	random  *rand.Rand
	victims []*server
	faults  []fault
}

// choose returns a victim that no other striker has, or nil if the database is the victim. It gives
// the victim to this one.
func (s *striker) choose() *server {
	for i := s.random.IntN(max(len(s.victims), 1)); len(s.victims) > 0; i++ {
		if victim := s.victims[i%len(s.victims)]; victim.struck.TryLock() {
			return victim
		}
	}
	return nil
}

// beyond returns a time between one and one and a quarter times the given one.
func (s *striker) beyond(least time.Duration) time.Duration {
	return least + time.Duration(s.random.Int64N(int64(least/4)+1))
}

// strike makes each fault once, and goes on until over has passed since the beginning. Before each,
// runs have made progress: more after the first round, because a database that is down most of the
// time shows nothing but waiting.
func (s *striker) strike(ctx context.Context, over time.Time, made *record) error {
	progress := 5 // payments
	for first := true; first || time.Now().Before(over); first, progress = false, 100 {
		for _, i := range s.random.Perm(len(s.faults)) {
			f, victim := s.faults[i], s.choose()
			for before := s.load.bank.payments(); s.load.bank.payments() < before+progress; {
				if wait(ctx, again); ctx.Err() != nil {
					return fmt.Errorf("waiting for payments: %w", context.Cause(ctx))
				}
			}
			if victim != nil {
				if err := victim.ended(); err != nil {
					return err
				}
			}
			began := time.Now()
			if err := f.do(ctx, victim); err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
			made.add(f.name, victim, began)
			if victim != nil {
				victim.struck.Unlock()
			}
			if !first && time.Now().After(over) {
				return nil
			}
		}
	}
	return nil
}

// How long faults take. A toolhost is silent for others after 10 seconds, and refuses tokens after
// 10 seconds without its database. PostgreSQL ends the session of an agentd after 15 seconds, and
// another one finds that a few seconds later.
const (
	beyondToolhost = 12 * time.Second
	beyondAgentd   = 17 * time.Second
	beyondDatabase = 16 * time.Second
	beyondPlugin   = 4 * time.Second
	mostDown       = 2 * time.Second
)

// kills kills the victim, and starts it again.
func (s *striker) kills(ctx context.Context, victim *server) error {
	victim.kill()
	wait(ctx, time.Duration(s.random.Int64N(int64(mostDown))))
	return victim.start(ctx)
}

// restarts ends the victim in good order, and starts it again.
func (s *striker) restarts(ctx context.Context, victim *server) error {
	if code := victim.stop(); code != 0 {
		return fmt.Errorf("%s ended with the exit code %d", victim.name, code)
	}
	return victim.start(ctx)
}

// stops stops the victim for a time.
func (s *striker) stops(least time.Duration) func(context.Context, *server) error {
	return func(ctx context.Context, victim *server) error {
		victim.signal(syscall.SIGSTOP)
		defer victim.signal(syscall.SIGCONT)
		wait(ctx, s.beyond(least))
		return nil
	}
}

// severs cuts the victim off from the database for a time.
func (s *striker) severs(least time.Duration) func(context.Context, *server) error {
	return func(ctx context.Context, victim *server) error {
		victim.wire.cut()
		defer victim.wire.heal()
		wait(ctx, s.beyond(least))
		return nil
	}
}

func ofAgentds(l *load, seed uint64) *striker {
	s := &striker{load: l, random: rand.New(rand.NewPCG(seed, 1)), victims: l.agentds}
	s.faults = []fault{
		{"agentd kill", s.kills}, {"agentd restart", s.restarts}, {"agentd stop", s.stops(beyondAgentd)}, {"agentd cut off", s.severs(beyondAgentd)},
	}
	if withTemporal() && *lasts > 0 {
		s.faults = append(s.faults, fault{"agentd stop beyond its heartbeat", s.stops(beyondHeartbeat)})
	}
	return s
}

func ofToolhosts(l *load, seed uint64) *striker {
	s := &striker{load: l, random: rand.New(rand.NewPCG(seed, 2)), victims: l.toolhosts}
	s.faults = []fault{
		{"toolhost kill", s.kills}, {"toolhost restart", s.restarts}, {"toolhost stop", s.stops(beyondToolhost)},
		{"toolhost kill and gone", s.declares}, {"toolhost cut off, token revoked", s.revokes},
	}
	return s
}

func ofPlugins(l *load, seed uint64) *striker {
	s := &striker{load: l, random: rand.New(rand.NewPCG(seed, 4)), victims: l.toolhosts}
	s.faults = []fault{
		{"plugin kill", func(ctx context.Context, victim *server) error { return signalPlugins(ctx, victim, syscall.SIGKILL) }},
		{"plugin stop", func(ctx context.Context, victim *server) error {
			err := signalPlugins(ctx, victim, syscall.SIGSTOP)
			wait(ctx, s.beyond(beyondPlugin))
			return firstError(err, signalPlugins(ctx, victim, syscall.SIGCONT))
		}},
		{"plugin stop and toolhost stop", func(ctx context.Context, victim *server) error {
			plugins, err := plugins(ctx, victim)
			victim.signal(syscall.SIGSTOP)
			signalAll(plugins, syscall.SIGSTOP)
			wait(ctx, s.beyond(beyondToolhost))
			signalAll(plugins, syscall.SIGCONT)
			victim.signal(syscall.SIGCONT)
			return err
		}},
	}
	return s
}

// ofDatabase makes faults of the database. The test's goroutine calls strike.
func ofDatabase(l *load, seed uint64) *striker {
	s := &striker{load: l, random: rand.New(rand.NewPCG(seed, 3))}
	down := func(end func(), least time.Duration) func(context.Context, *server) error {
		return func(ctx context.Context, _ *server) error {
			end()
			wait(ctx, s.beyond(least))
			l.database.Resume(l.t)
			return nil
		}
	}
	s.faults = []fault{
		{"database restart", down(l.database.Stop, time.Millisecond)}, {"database kill", down(l.database.Kill, time.Second)},
		{"database down", down(l.database.Stop, beyondDatabase)},
		{"connections cut", func(context.Context, *server) error {
			l.database.Do(l.t, l.ledger, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()")
			return nil
		}},
	}
	return s
}

// declares kills a toolhost, says that it is gone, and starts it again.
func (s *striker) declares(ctx context.Context, victim *server) error {
	out, err := victim.run(ctx, "nodes", "-o", "json", "--config", victim.path("toolhost.yaml"))
	if err != nil {
		return err
	}
	var listed []struct{ ID, Address, State string }
	if err := json.Unmarshal([]byte(out), &listed); err != nil {
		return err
	}
	victim.kill()
	for _, node := range listed {
		if node.State != "gone" && sameHost(node.Address, victim.address) {
			if _, err := victim.run(ctx, "nodes", "gone", node.ID, "--config", victim.path("toolhost.yaml")); err != nil {
				return err
			}
		}
	}
	return victim.start(ctx)
}

// revokes cuts a toolhost off from the database, and revokes a token at another one. Nobody accepts
// the token then.
func (s *striker) revokes(ctx context.Context, victim *server) error {
	other := s.victims[0]
	if other == victim {
		other = s.victims[1]
	}
	flags := []string{"--config", other.path("toolhost.yaml"), "--state", other.path("state")}
	token, err := other.run(ctx, append([]string{"token", "create", "ci"}, flags...)...)
	if err != nil {
		return err
	}
	c, err := client.Dial(victim.address, client.WithTLS(client.TLS{CA: s.load.ca.Path}), client.WithToken(token), client.IgnoreEnvironment())
	if err != nil {
		return err
	}
	defer c.Close()
	accepts := func() bool {
		short, cancel := brief(ctx)
		defer cancel()
		_, err := c.WhoAmI(short)
		return err == nil
	}
	if err := until(ctx, "the token is accepted", accepts); err != nil {
		return err
	}
	victim.wire.cut()
	defer victim.wire.heal()
	if _, err := other.run(ctx, append([]string{"token", "revoke", token}, flags...)...); err != nil {
		return err
	}
	if err := until(ctx, "the token is refused", func() bool { return !accepts() }); err != nil {
		return err
	}
	victim.wire.heal()
	for range 20 {
		if accepts() {
			return fmt.Errorf("%s accepts the revoked token again", victim.name)
		}
	}
	return nil
}

// until waits until a condition holds.
func until(ctx context.Context, what string, holds func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, eventually.Patience)
	defer cancel()
	for !holds() {
		if wait(ctx, again); ctx.Err() != nil {
			return fmt.Errorf("waited in vain: %s", what)
		}
	}
	return nil
}

// plugins returns the processes of the plugins of a toolhost.
func plugins(ctx context.Context, victim *server) (pids []int, err error) {
	c, err := client.Dial("unix://"+victim.path("socket"), client.IgnoreEnvironment())
	if err != nil {
		return nil, err
	}
	defer c.Close()
	short, cancel := brief(ctx)
	defer cancel()
	instances, err := c.Admin().Instances(short, "payplugin")
	for i := range instances {
		if pid := instances[i].PID; pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids, err
}

func signalPlugins(ctx context.Context, victim *server, signal syscall.Signal) error {
	pids, err := plugins(ctx, victim)
	signalAll(pids, signal)
	return err
}

func signalAll(pids []int, signal syscall.Signal) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, signal) // fails if the process has ended
	}
}

// record is what faults were made.
type record struct {
	began time.Time

	mu    sync.Mutex
	count map[string]int // by name
	lines []string
}

func (r *record) add(name string, victim *server, began time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := "the database"
	if victim != nil {
		of = victim.name
	}
	r.count[name]++
	r.lines = append(r.lines, fmt.Sprintf("%v to %v: %s of %s", began.Sub(r.began).Round(time.Second), time.Since(r.began).Round(time.Second), name, of))
}
