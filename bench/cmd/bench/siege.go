package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/toolhost/toolhost/bench/internal/load"
	"github.com/toolhost/toolhost/bench/internal/peer"
	"github.com/toolhost/toolhost/bench/internal/report"
	"github.com/toolhost/toolhost/bench/internal/work"
	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/tool"
)

const (
	hostileStreams = 64
	// hostileText is the number of bytes of arguments that each hostile call sends. They are never
	// complete.
	hostileText = 15 << 20
	// calmPause is the pause between two calls of the calm caller.
	calmPause = 2 * time.Millisecond
	// fewest is the least number of calls for a figure.
	fewest = 100
)

// siege measures a calm caller while 64 streams open calls and send arguments that never end. It
// compares it with the same caller next to a control process. The control process does not call
// toolhost and uses as much processor time as the siege took in all.
func siege(ctx context.Context, o options, f *peer.Field, out io.Writer, _ *report.Results) error {
	fmt.Fprintf(out, "a calm caller under %d hostile streams, for %v in each of %d rounds\n", hostileStreams, o.length, o.rounds)
	host, err := f.Toolhost(ctx, peer.House{})
	if err != nil {
		return err
	}
	calm := func() (p99 time.Duration, err error) {
		var all []time.Duration
		for begun := time.Now(); time.Since(begun) < o.length || len(all) < fewest; time.Sleep(calmPause) {
			called := time.Now()
			if _, err := host.Connect().Do(ctx, work.Arguments(work.Small)); err != nil {
				return 0, err
			}
			all = append(all, time.Since(called))
		}
		slices.Sort(all)
		return all[len(all)*99/100], nil
	}
	if _, err := calm(); err != nil { // opens connections and starts the plugin
		return err
	}
	var under, beside, ratios []float64
	for range o.rounds {
		before, begun := usage(host.PIDs()), time.Now()
		sample, used, err := alongside(ctx, calm, "-siege", host.Address())
		if err != nil {
			return fmt.Errorf("under siege: %w", err)
		}
		processors := (usage(host.PIDs()) - before + used).Seconds() / time.Since(begun).Seconds()
		control, _, err := alongside(ctx, calm, "-burn", strconv.FormatFloat(processors, 'f', 3, 64))
		if err != nil {
			return fmt.Errorf("beside the control process: %w", err)
		}
		ratio := float64(sample) / float64(control)
		under, beside, ratios = append(under, sample.Seconds()), append(beside, control.Seconds()), append(ratios, ratio)
		fmt.Fprintf(out, "  p99 %v under siege, %v beside a process that uses %.2f processors: × %.2f\n", sample, control, processors, ratio)
	}
	peak, err := host.PIDs().Peak()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "  medians: p99 %.2f ms under siege, %.2f ms beside the control process, × %.2f (at most 3)\n",
		1000*median(under), 1000*median(beside), median(ratios))
	fmt.Fprintf(out, "  toolhost had at most %d MiB in memory (at most 1024)\n", peak>>20)
	return nil
}

// usage returns the processor time of the processes, or 0 if it is unknown.
func usage(p load.Processes) time.Duration {
	all, _ := p.CPU()
	own, _ := load.Processes{}.CPU()
	return all - own
}

// alongside measures while another process of this program runs. It also returns the processor time
// of that process.
func alongside(ctx context.Context, measure func() (time.Duration, error), args ...string) (p99, used time.Duration, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, 0, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	time.Sleep(100 * time.Millisecond) // the process has started to work by then
	p99, err = measure()
	cancel()
	_ = cmd.Wait() // an error is expected: the process was killed
	return p99, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), err
}

// besiege opens calls on 64 streams and sends arguments that never end, until the process is
// killed.
func besiege(ctx context.Context, address string) error {
	piece := bytes.Repeat([]byte("a"), 1<<20)
	var all sync.WaitGroup
	for range hostileStreams {
		c, err := client.Dial(address)
		if err != nil {
			return err
		}
		all.Go(func() { // ends with the process
			for ctx.Err() == nil {
				e, err := c.Open(ctx, tool.Call{Tool: "echo", Arguments: []byte(`{"note":"`)}, false)
				for sent := 0; err == nil && sent < hostileText; sent += len(piece) {
					err = e.Send(ctx, piece, false)
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	all.Wait()
	return nil
}

// burn uses the given number of processors until the process is killed.
func burn(ctx context.Context, processors float64) error {
	threads := max(1, min(runtime.NumCPU(), int(processors+0.999)))
	share := min(1, processors/float64(threads))
	const period = 10 * time.Millisecond
	for range threads {
		go func() { // ends with the process
			for ctx.Err() == nil {
				for begun := time.Now(); time.Since(begun) < time.Duration(share*float64(period)); {
				}
				time.Sleep(time.Duration((1 - share) * float64(period)))
			}
		}()
	}
	<-ctx.Done()
	return nil
}

func median(figures []float64) float64 {
	sorted := slices.Sorted(slices.Values(figures))
	return sorted[len(sorted)/2]
}
