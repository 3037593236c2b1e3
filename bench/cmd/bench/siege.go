package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

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
		var sample, control time.Duration
		before, begun := usage(host.PIDs()), time.Now()
		used, err := alongside(ctx, [][]string{{"-siege", host.Address()}}, func() (err error) { sample, err = calm(); return err })
		if err != nil {
			return fmt.Errorf("under siege: %w", err)
		}
		processors := (usage(host.PIDs()) - before + used).Seconds() / time.Since(begun).Seconds()
		burned := [][]string{{"-burn", strconv.FormatFloat(processors, 'f', 3, 64)}}
		if _, err := alongside(ctx, burned, func() (err error) { control, err = calm(); return err }); err != nil {
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
	own, descendants, _ := p.Apart()
	return own + descendants
}

// alongside measures while other processes of this program run, each with the given arguments. It
// returns the processor time that they have used.
func alongside(ctx context.Context, others control, measure func() error) (used time.Duration, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var started []*exec.Cmd
	for i, args := range others {
		cmd := exec.CommandContext(ctx, self, args...)
		cmd.Stderr = os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: i > 0}
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		started = append(started, cmd)
	}
	time.Sleep(100 * time.Millisecond) // the processes have started to work by then
	err = measure()
	cancel()
	for _, cmd := range started {
		_ = cmd.Wait() // an error is expected: the process was killed
		used += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	return used, err
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

// burn uses as many processors as the numbers in shares say, which are separated by commas, until
// the process is killed. A number of threads can follow a number after a colon; the default is as
// few as possible. burn copies memory, as a program does that passes large results on.
func burn(ctx context.Context, shares string) error {
	for text := range strings.SplitSeq(shares, ",") {
		share, count, given := strings.Cut(text, ":")
		processors, err := strconv.ParseFloat(share, 64)
		if err != nil {
			return fmt.Errorf("%q is no number of processors: %w", share, err)
		}
		threads := max(1, min(runtime.NumCPU(), int(math.Ceil(processors))))
		if given {
			if threads, err = strconv.Atoi(count); err != nil || threads < 1 {
				return fmt.Errorf("%q is no number of threads", count)
			}
		}
		for range threads {
			go burnThread(ctx, min(1, processors/float64(threads))) // ends with the process
		}
	}
	<-ctx.Done()
	return nil
}

// burnThread uses a share of one processor in each period. After a period in which it got less, it
// uses more.
func burnThread(ctx context.Context, share float64) {
	const period = 10 * time.Millisecond
	runtime.LockOSThread() // threadTime is that of this thread
	from, to := make([]byte, 64<<10), make([]byte, 64<<10)
	begun, already := time.Now(), threadTime()
	for ctx.Err() == nil {
		next := time.Since(begun) + period
		for threadTime()-already < time.Duration(share*float64(next)) {
			copy(to, from)
		}
		time.Sleep(next - time.Since(begun))
	}
}

// threadTime returns the processor time that the calling thread has used.
func threadTime() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // it cannot fail on Linux
	return time.Duration(t.Nano())
}

func median(figures []float64) float64 {
	sorted := slices.Sorted(slices.Values(figures))
	return sorted[len(sorted)/2]
}
