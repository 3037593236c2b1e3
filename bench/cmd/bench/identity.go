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

// identityBound is the largest allowed ratio between the processor time of a small call by one way
// of authentication and that of a call by the unix socket.
const identityBound = 1.15

// identityCallers are the numbers of concurrent callers.
var identityCallers = []int{1, 16}

// identity measures the processor time of small calls on open connections in the client and in
// toolhost, by the transport and the credential. The plugin's time does not count, because the
// plugin does the same in each case.
func identity(ctx context.Context, o options, f *peer.Field, out io.Writer, results *report.Results) error {
	ways, err := f.Entrances(ctx)
	if err != nil {
		return err
	}
	for _, callers := range identityCallers {
		for _, rpc := range []struct {
			name string
			of   func(*peer.Toolhost) peer.Contender
		}{{"Connect", (*peer.Toolhost).Connect}, {"Call", (*peer.Toolhost).Call}} {
			var points []point
			for _, way := range ways {
				c := rpc.of(way.Toolhost)
				points = append(points, point{way.Title, func(ctx context.Context) (float64, error) { return perCall(ctx, c, callers, o.length) }})
			}
			title := fmt.Sprintf("CPU of a call in client and toolhost, %s, callers: %d", rpc.name, callers)
			measured, err := curve(ctx, o.rounds, out, title, "µs", points...)
			measured.Flat = identityBound
			results.Curves = append(results.Curves, measured)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// perCall returns the processor time of a small call in this process and in the contender's own
// processes, in microseconds.
func perCall(ctx context.Context, c peer.Contender, callers int, length time.Duration) (float64, error) {
	before, err := caller(c)
	if err != nil {
		return 0, err
	}
	s, err := load.Run(ctx, callers, length, func(ctx context.Context) error {
		_, err := c.Do(ctx, work.Arguments(work.Small))
		return err
	})
	if err != nil {
		return 0, err
	}
	after, err := caller(c)
	return float64(after-before) / float64(s.Calls) / float64(time.Microsecond), err
}

// caller returns the processor time of this process and of the contender's own processes.
func caller(c peer.Contender) (time.Duration, error) {
	this, err := load.Processes{}.CPU()
	if err != nil {
		return 0, err
	}
	host, _, err := c.Processes.Apart()
	return this + host, err
}
