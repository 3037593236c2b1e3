package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/bench/internal/attack"
	"github.com/toolhost/toolhost/bench/internal/peer"
	"github.com/toolhost/toolhost/bench/internal/report"
)

const (
	// attackedMemory is the most memory that a server may need during an attack, in bytes.
	attackedMemory = 512 << 20
	// attackedCall is the longest time of a calm call during an attack.
	attackedCall = 10 * time.Second
	// freshPause is the pause between two connections of the calm caller.
	freshPause = 100 * time.Millisecond
)

// attacks misuses each server in each way, as a stranger and as a principal. A calm caller makes
// calls meanwhile, over its connection and over fresh ones. The part fails if one of them fails, or
// if a server needs too much memory.
func attacks(ctx context.Context, o options, f *peer.Field, out io.Writer, _ *report.Results) error {
	servers, err := f.Exposed(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "a calm caller while others misuse the server, for %v each\n", o.length)
	fmt.Fprintf(out, "  %-12s %-12s %-16s %6s | %5s %8s %8s | %5s %8s\n", "server", "attacker", "attack", "MiB", "calls", "p50", "longest", "fresh", "longest")
	var failed []error
	for _, server := range servers {
		for _, who := range slices.Sorted(maps.Keys(server.As)) {
			for _, kind := range attack.Kinds(server.HTTP1) {
				if name := server.Title + "/" + who + "/" + kind; o.kinds != "" && !strings.Contains(name, o.kinds) {
					continue
				}
				if err := attacked(ctx, o.length, out, server, who, kind); err != nil {
					failed = append(failed, fmt.Errorf("%s, attacked by %s with %s: %w", server.Title, who, kind, err))
				}
				if ctx.Err() != nil {
					return ctx.Err()
				}
			}
		}
	}
	return errors.Join(failed...)
}

// attacked measures one attack by another process.
func attacked(ctx context.Context, length time.Duration, out io.Writer, server peer.Exposed, who, kind string) error {
	for begun := time.Now(); ; time.Sleep(calmPause) { // the server still works on what an earlier attacker has sent
		err := errors.Join(server.Call(ctx, false), server.Call(ctx, true))
		if err == nil {
			break
		}
		if time.Since(begun) > time.Minute {
			return fmt.Errorf("before the attack: %w", err)
		}
	}
	if err := server.PIDs.ForgetPeak(); err != nil {
		return err
	}
	target, err := json.Marshal(server.As[who])
	if err != nil {
		return err
	}
	var kept, fresh []time.Duration
	_, err = alongside(ctx, control{{"-attack", kind, "-target", string(target)}}, func() error {
		var both sync.WaitGroup
		var keptErr, freshErr error
		both.Go(func() {
			kept, keptErr = calmly(ctx, length, calmPause, func(ctx context.Context) error { return server.Call(ctx, false) })
		})
		both.Go(func() {
			fresh, freshErr = calmly(ctx, length, freshPause, func(ctx context.Context) error { return server.Call(ctx, true) })
		})
		both.Wait()
		return errors.Join(keptErr, freshErr)
	})
	peak, peakErr := server.PIDs.Peak()
	if err = errors.Join(err, peakErr); err == nil && peak > attackedMemory {
		err = fmt.Errorf("it needed %d MiB", peak>>20)
	}
	fmt.Fprintf(out, "  %-12s %-12s %-16s %6d | %5d %8v %8v | %5d %8v\n", server.Title, who, kind, peak>>20,
		len(kept), middle(kept), longest(kept), len(fresh), longest(fresh))
	return err
}

// calmly makes one call after the other. Its error counts those that failed, and has the first one.
func calmly(ctx context.Context, length, pause time.Duration, call func(context.Context) error) (took []time.Duration, err error) {
	failed := 0
	for begun := time.Now(); time.Since(begun) < length; time.Sleep(pause) {
		ctx, cancel := context.WithTimeout(ctx, attackedCall)
		called := time.Now()
		if callErr := call(ctx); callErr != nil {
			if failed++; err == nil {
				err = callErr
			}
		}
		cancel()
		took = append(took, time.Since(called))
	}
	if err != nil {
		err = fmt.Errorf("%d of %d calls failed, the first with: %w", failed, len(took), err)
	}
	return took, err
}

func middle(all []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(all))[len(all)/2].Round(10 * time.Microsecond)
}

func longest(all []time.Duration) time.Duration { return slices.Max(all).Round(10 * time.Microsecond) }
