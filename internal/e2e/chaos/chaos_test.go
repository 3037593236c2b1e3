package chaos_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/tool"
)

var (
	duration = flag.Duration("chaos.for", 4*time.Second, "how long the chaos lasts")
	seed     = flag.Uint64("chaos.seed", 0, "seed of the chaos; 0: one that is printed")
)

const (
	calm, wild  = 4, 4 // plugins that are left alone, and those that are not
	callers     = 64
	faultPause  = 50 * time.Millisecond
	callTimeout = 2 * time.Second
	// slack is how much later than its deadline a call's outcome may reach its caller. The machine may be busy; what is
	// checked is that no call hangs.
	slack = 20 * time.Second
)

// misdeeds are what callers ask wild plugins to do.
var misdeeds = []string{
	`{"do":"echo","text":"x"}`, `{"do":"echo","text":"x"}`, `{"do":"echo","text":"x"}`,
	`{"do":"exit","number":3}`, `{"do":"kill","number":11}`, `{"do":"kill","number":9}`, `{"do":"crash","text":"boom"}`,
	`{"do":"hang"}`, `{"do":"ignore"}`, `{"do":"stop"}`, `{"do":"disconnect"}`,
	`{"do":"flood","number":1000000}`, `{"do":"long_line","number":200000}`, `{"do":"print","text":"{\"@message\": 1}"}`,
	`{"do":"spawn","text":"group"}`, `{"do":"spawn","text":"session"}`, `{"do":`, `{}`,
}

// chaos is one run.
type chaos struct {
	t      *testing.T
	client *client.Client
	stop   <-chan struct{}

	calmCalls, wildCalls, wildResults, faults atomic.Int64
}

func TestChaos(t *testing.T) {
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("%v of chaos with -chaos.seed=%d", *duration, *seed)
	h := startToolhost(t)
	before := h.descriptors(t)
	stop := make(chan struct{})
	c := &chaos{t: t, client: h.dial(t), stop: stop}
	var wg sync.WaitGroup
	for i := range callers {
		random := rand.New(rand.NewPCG(*seed, uint64(i)))
		wg.Go(func() { c.call(random) })
	}
	wg.Go(func() { c.disturb(rand.New(rand.NewPCG(*seed, callers))) })
	timer := time.NewTimer(*duration)
	select {
	case <-timer.C:
	case <-h.exited:
		t.Error("toolhost ended in the middle of it")
	}
	close(stop)
	wg.Wait()
	t.Logf("%d calls of calm plugins, %d of wild ones of which %d had results, %d faults",
		c.calmCalls.Load(), c.wildCalls.Load(), c.wildResults.Load(), c.faults.Load())
	if c.calmCalls.Load() == 0 || c.wildCalls.Load() == 0 || c.faults.Load() == 0 {
		t.Error("something of the chaos did not happen at all")
	}
	h.checkQuiet(t, before)
	h.stopAndCheck(t)
}

// call is one caller: it calls calm and wild plugins in turn.
func (c *chaos) call(random *rand.Rand) {
	for n := 0; !c.over(); n++ {
		if n%2 == 0 {
			c.callCalm(fmt.Sprintf("chaos-calm-%d", random.IntN(calm)), fmt.Sprintf("%x", random.Uint64()))
		} else {
			c.callWild(fmt.Sprintf("chaos-wild-%d", random.IntN(wild)), misdeeds[random.IntN(len(misdeeds))])
		}
	}
}

// callCalm makes a call that must succeed, whatever happens elsewhere.
func (c *chaos) callCalm(plugin, text string) {
	arguments, _ := json.Marshal(map[string]string{"do": "echo", "text": text})
	outcome := c.execute(tool.Call{Tool: plugin, Arguments: arguments, Timeout: time.Minute}, time.Minute)
	c.calmCalls.Add(1)
	if outcome.Err != nil || outcome.Result.IsError || outcome.Result.Text() != text {
		c.t.Errorf("a call of %s, which was left alone, ended with %v %q", plugin, outcome.Err, outcome.Result.Text())
	}
}

// callWild makes a call that may end in any way, but must end.
func (c *chaos) callWild(plugin, arguments string) {
	outcome := c.execute(tool.Call{Tool: plugin, Arguments: json.RawMessage(arguments), Timeout: callTimeout}, callTimeout)
	c.wildCalls.Add(1)
	switch {
	case outcome.Err == nil:
		c.wildResults.Add(1)
	case outcome.Err.Kind == "" || outcome.Err.Message == "":
		c.t.Errorf("a call of %s ended with an error that says nothing: %+v", plugin, outcome.Err)
	}
}

// execute makes one call and checks that it ends once and in time.
func (c *chaos) execute(call tool.Call, timeout time.Duration) tool.Outcome {
	ctx, cancel := context.WithTimeout(context.Background(), timeout+slack)
	defer cancel()
	e, err := c.client.Open(ctx, call, true)
	if err != nil {
		return tool.Outcome{Err: tool.AsError(err)}
	}
	defer e.Close()
	for {
		ev, err := e.Next(ctx)
		if err != nil {
			c.t.Errorf("a call of %s with %s did not end within %v of its deadline: %v", call.Tool, call.Arguments, slack, err)
			return tool.Outcome{Err: tool.AsError(err)}
		}
		if ev.Ended == nil {
			continue
		}
		if more, err := e.Next(ctx); err == nil {
			c.t.Errorf("after the end of a call of %s came %+v", call.Tool, more)
		}
		return *ev.Ended
	}
}

// disturb is everything that happens to the wild plugins but their own misdeeds.
func (c *chaos) disturb(random *rand.Rand) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var orders sync.WaitGroup
	defer orders.Wait()
	tick := time.NewTicker(faultPause)
	defer tick.Stop()
	for {
		select {
		case <-c.stop:
			return
		case <-tick.C:
		}
		plugin := fmt.Sprintf("chaos-wild-%d", random.IntN(wild))
		c.faults.Add(1)
		switch kind := random.IntN(4); kind {
		case 0, 1:
			c.signal(ctx, plugin, []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP}[kind])
		default:
			// Operators do not wait for each other.
			force := random.IntN(2) == 0
			orders.Go(func() { _, _ = c.client.Restart(ctx, plugin, force) }) // may fail: what counts is what calls see
		}
	}
}

// signal sends a signal to the processes of a plugin that run now.
func (c *chaos) signal(ctx context.Context, plugin string, signal syscall.Signal) {
	instances, err := c.client.Instances(ctx, plugin)
	if err != nil {
		c.t.Errorf("listing the instances of %s: %v", plugin, err)
		return
	}
	for _, in := range instances {
		if in.PID > 1 && in.State == tool.InstanceReady {
			_ = syscall.Kill(in.PID, signal) // it may have ended since
		}
	}
}

func (c *chaos) over() bool {
	select {
	case <-c.stop:
		return true
	default:
		return false
	}
}
