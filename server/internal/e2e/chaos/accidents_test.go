package chaos_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// accident is a disturbance of a wild plugin from outside. An admin command may fail, because the
// test checks only what the calls receive.
type accident struct {
	name string
	do   func(ctx context.Context, c *chaos, plugin string)
}

var accidents = []accident{
	{"kill", func(ctx context.Context, c *chaos, plugin string) { c.signal(ctx, plugin, syscall.SIGKILL) }},
	{"stop", func(ctx context.Context, c *chaos, plugin string) { c.signal(ctx, plugin, syscall.SIGSTOP) }},
	{"restart", func(ctx context.Context, c *chaos, plugin string) {
		_, _ = c.client.Admin().Restart(ctx, plugin, false)
	}},
	{"restart by force", func(ctx context.Context, c *chaos, plugin string) { _, _ = c.client.Admin().Restart(ctx, plugin, true) }},
	{"drain", func(ctx context.Context, c *chaos, plugin string) { _ = c.client.Admin().Drain(ctx, plugin) }},
	{"pause", func(ctx context.Context, c *chaos, plugin string) {
		_ = c.client.Admin().Pause(ctx, plugin)
		_ = c.client.Admin().Resume(ctx, plugin)
	}},
	{"clear", func(ctx context.Context, c *chaos, plugin string) { _ = c.client.Admin().ClearQuarantine(ctx, plugin) }},
	// Good files are more frequent than broken and missing ones, so that a plugin is usually
	// available.
	{"new file", func(_ context.Context, c *chaos, plugin string) { c.host.home.install(c.t, "one", plugin) }},
	{"new file", func(_ context.Context, c *chaos, plugin string) { c.host.home.install(c.t, "one", plugin) }},
	{"other new file", func(_ context.Context, c *chaos, plugin string) { c.host.home.install(c.t, "two", plugin) }},
	{"other new file", func(_ context.Context, c *chaos, plugin string) { c.host.home.install(c.t, "two", plugin) }},
	{"broken file", func(_ context.Context, c *chaos, plugin string) { c.host.home.install(c.t, "broken", plugin) }},
	{"no file", func(_ context.Context, c *chaos, plugin string) { _ = os.Remove(c.host.home.file(plugin)) }},
	{"reload", func(ctx context.Context, c *chaos, _ string) { _, _ = c.client.Admin().Reload(ctx) }},
	{"upgrade", func(ctx context.Context, c *chaos, plugin string) { _, _ = c.client.Admin().Upgrade(ctx, plugin) }},
	{"rollback", func(ctx context.Context, c *chaos, plugin string) { _, _ = c.client.Admin().Rollback(ctx, plugin) }},
}

// disturb starts a random accident at each tick until the chaos stops. Accidents do not wait for
// each other.
func (c *chaos) disturb(random *rand.Rand) {
	ctx, cancel := context.WithCancel(context.Background())
	var under sync.WaitGroup
	defer under.Wait()
	defer cancel()
	tick := time.NewTicker(faultPause)
	defer tick.Stop()
	for {
		select {
		case <-c.stop:
			return
		case <-tick.C:
		}
		plugin := wildPlugins()[random.IntN(wild)]
		a := accidents[random.IntN(len(accidents))]
		c.tally.fault(a.name)
		under.Go(func() { a.do(ctx, c, plugin) }) // ends with ctx
	}
}

// signal sends a signal to the ready instances of a plugin.
func (c *chaos) signal(ctx context.Context, plugin string, signal syscall.Signal) {
	instances, err := c.client.Admin().Instances(ctx, plugin)
	if err != nil {
		return // the plugin has no file now
	}
	for _, in := range instances {
		if in.PID > 1 && in.State == tool.InstanceReady {
			_ = syscall.Kill(in.PID, signal) // the process may have exited
		}
	}
}

// calmInstances returns the instances of each calm plugin. The test expects one for each.
func (c *chaos) calmInstances() map[string]string {
	c.t.Helper()
	instances, err := c.client.Admin().Instances(context.Background(), "")
	if err != nil {
		c.t.Fatal(err)
	}
	found := map[string]string{}
	for _, in := range instances {
		if match, _ := filepath.Match("chaos-calm-*", in.Plugin); match {
			found[in.Plugin] += fmt.Sprintf("%s (process %d) ", in.ID, in.PID)
		}
	}
	return found
}
