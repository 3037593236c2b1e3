package chaos_test

import (
	"flag"
	"math/rand/v2"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
)

var (
	duration = flag.Duration("chaos.for", 6*time.Second, "how long the chaos lasts")
	seed     = flag.Uint64("chaos.seed", 0, "seed of the chaos; 0: one that is printed")
	race     = flag.Bool("chaos.race", false, "build toolhost with the race detector")
)

const (
	calm, wild = 4, 4 // calm plugins, which the test does not disturb, and wild ones, which it does
	callers    = 64
	faultPause = 50 * time.Millisecond
)

func calmPlugins() []string { return numbered("chaos-calm-", calm) }
func wildPlugins() []string { return numbered("chaos-wild-", wild) }
func allPlugins() []string  { return append(calmPlugins(), wildPlugins()...) }

func numbered(prefix string, count int) (names []string) {
	for i := range count {
		names = append(names, prefix+strconv.Itoa(i))
	}
	return names
}

// The test runs two periods of chaos. After the first one, toolhost receives SIGTERM and must leave
// nothing behind. The second one starts with the state dir of the first and ends with a dump of all
// goroutines.
func TestChaos(t *testing.T) {
	seed := *seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("%v of chaos with -chaos.seed=%d", *duration, seed)
	home := newHome(t)

	h := home.serve(t)
	h.rest(t)
	idle := h.dumpGoroutines(t)

	h = home.serve(t)
	before := h.rest(t)
	h.chaos(t, seed, 0, *duration/2)
	h.repair(t)
	h.checkQuiet(t, before)
	h.client.Close()
	h.end(t, syscall.SIGTERM, 0)
	home.checkEmpty(t, h)

	h = home.serve(t)
	before = h.rest(t)
	h.chaos(t, seed, 1, *duration/2)
	h.repair(t)
	h.checkQuiet(t, before)
	checkGoroutines(t, idle, h.dumpGoroutines(t))
	home.checkEmpty(t, h)
}

// chaos is one period of concurrent callers and accidents.
type chaos struct {
	t      *testing.T
	host   *toolhost
	client *client.Client
	stop   chan struct{}
	tally  tally
}

func (h *toolhost) chaos(t *testing.T, seed, half uint64, lasts time.Duration) {
	t.Helper()
	c := &chaos{t: t, host: h, client: h.client, stop: make(chan struct{}), tally: newTally()}
	for _, plugin := range calmPlugins() {
		h.echo(t, plugin)
	}
	calmBefore := c.calmInstances()
	var wg sync.WaitGroup
	for i := range uint64(callers) {
		random := rand.New(rand.NewPCG(seed, 1000*half+i))
		wg.Go(func() { c.call(random) }) // ends after c.stop is closed
	}
	// Ends after c.stop is closed.
	wg.Go(func() { c.disturb(rand.New(rand.NewPCG(seed, 1000*half+callers))) })
	timer := time.NewTimer(lasts)
	defer timer.Stop()
	select {
	case <-timer.C:
		// A slow machine needs longer for one success between the accidents.
		eventually.Holds(t, "each kind of call and an accident", c.tally.complete)
	case <-h.exited:
		t.Error("toolhost ended in the middle of it")
	}
	close(c.stop)
	wg.Wait()
	c.tally.report(t)
	for plugin, instance := range c.calmInstances() {
		if calmBefore[plugin] != instance {
			t.Errorf("%s, which was left alone, runs in %s now, before in %s", plugin, instance, calmBefore[plugin])
		}
	}
}

// over reports whether the callers must stop.
func (c *chaos) over() bool {
	select {
	case <-c.stop:
		return true
	default:
		return false
	}
}
