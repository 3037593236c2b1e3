package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/toolhost/toolhost/bench/internal/load"
	"github.com/toolhost/toolhost/bench/internal/peer"
	"github.com/toolhost/toolhost/bench/internal/report"
	"github.com/toolhost/toolhost/bench/internal/work"
)

// Repetitions of slow operations.
const (
	pacedCalls = 20
	pause      = 50 * time.Millisecond
)

// cold measures the first call of a plugin without a running process, against a launch by go-plugin
// alone. It also measures one caller with pauses: one process per call from a pool, against a
// shared process.
func cold(ctx context.Context, o options, f *peer.Field, out io.Writer, results *report.Results) error {
	fmt.Fprintln(out, "cold starts, and calls with pauses")
	host, err := f.Toolhost(ctx, peer.House{})
	if err != nil {
		return err
	}
	pool, err := f.Toolhost(ctx, peer.House{Settings: "defaults: {isolation: call}\n"})
	if err != nil {
		return err
	}
	c := &results.Cold
	for range o.rounds {
		time.Sleep(pause) // so that refilling the pool after the previous round is not measured
		took, err := coldStart(ctx, f, host)
		if err != nil {
			return fmt.Errorf("starting cold: %w", err)
		}
		c.Bare, c.Toolhost = append(c.Bare, took[0]), append(c.Toolhost, took[1])
		for _, p := range []struct {
			c    peer.Contender
			into *[]time.Duration
		}{{host.Connect(), &c.Shared}, {pool.Connect(), &c.Isolated}} {
			s, err := load.Paced(ctx, pacedCalls, pause, func(ctx context.Context) error {
				_, err := p.c.Do(ctx, work.Arguments(work.Small))
				return err
			})
			if err != nil {
				return fmt.Errorf("calling with pauses: %w", err)
			}
			*p.into = append(*p.into, s.P50)
		}
	}
	return nil
}

func coldStart(ctx context.Context, f *peer.Field, host *peer.Toolhost) (took [2]time.Duration, err error) {
	arguments := work.Arguments(work.Small)
	start := time.Now()
	stop, err := f.ColdGoPlugin(ctx, arguments)
	if err != nil {
		return took, err
	}
	took[0] = time.Since(start)
	stop()
	if err := host.Restart(ctx); err != nil {
		return took, err
	}
	start = time.Now()
	_, err = host.Connect().Do(ctx, arguments)
	took[1] = time.Since(start)
	return took, err
}
