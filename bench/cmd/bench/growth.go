package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/toolhost/toolhost/bench/internal/peer"
	"github.com/toolhost/toolhost/bench/internal/report"
	"github.com/toolhost/toolhost/bench/internal/work"
)

// unwalled switches the sandbox off where only the number of processes matters. The part cold
// measures the cost of the sandbox.
const unwalled = "sandbox: {mode: off}"

// flat is the largest allowed ratio between a figure of a curve and the curve's first figure.
const flat = 1.2

// amounts are the numbers with which growth measures.
type amounts struct {
	tools     []int // known, in ten plugins
	ledger    int   // the bound of the outcomes that are kept
	instances []int // of one plugin
	plugins   int   // of a toolhost that starts again; each has ten tools
	first     []int // plugins of a toolhost that starts for the first time; each has ten tools
}

func (o options) amounts() amounts {
	if o.short {
		return amounts{[]int{10, 100}, 100, []int{1, 5}, 20, []int{5, 10}}
	}
	return amounts{[]int{10, 1_000, 10_000}, 10_000, []int{1, 50, 200}, 1_000, []int{30, 100, 300, 1_000}}
}

// growth measures the cost of a call for growing numbers of tools, stored outcomes and instances,
// and the starts of a toolhost for growing numbers of plugins.
func growth(ctx context.Context, o options, f *peer.Field, out io.Writer, results *report.Results) error {
	for _, measure := range []func(context.Context, options, *peer.Field, io.Writer) ([]report.Curve, error){
		toolsKnown, ledgerFull, instancesLive, crowded, firstStart,
	} {
		if err := in(o.bin, func(f *peer.Field) error {
			curves, err := measure(ctx, o, f, out)
			results.Curves = append(results.Curves, curves...)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// latency returns the median time of a call with one caller, in microseconds.
func latency(title string, o options, t *peer.Toolhost) point {
	return point{title, func(ctx context.Context) (float64, error) {
		s, err := turn(ctx, t.Connect(), work.Small, 1, o.length)
		return float64(s.P50) / float64(time.Microsecond), err
	}}
}

func toolsKnown(ctx context.Context, o options, f *peer.Field, out io.Writer) ([]report.Curve, error) {
	var points []point
	for _, tools := range o.amounts().tools {
		plugins, err := f.Crowd(10, tools/10)
		if err != nil {
			return nil, err
		}
		t, err := f.Toolhost(ctx, peer.House{Plugins: plugins, Settings: "defaults: {" + unwalled + "}\n"})
		if err != nil {
			return nil, err
		}
		if err := t.Await(ctx, "crowd", tools); err != nil {
			return nil, err
		}
		points = append(points, latency(fmt.Sprintf("%d tools", tools), o, t))
	}
	c, err := curve(ctx, o.rounds, out, "Call, tools known", "µs", points...)
	c.Flat = flat
	return []report.Curve{c}, err
}

func ledgerFull(ctx context.Context, o options, f *peer.Field, out io.Writer) ([]report.Curve, error) {
	bound := o.amounts().ledger
	far, err := f.Toolhost(ctx, peer.House{Settings: "ledger: {max_entries: 1000000, memory_bytes: 16GiB}\n"})
	if err != nil {
		return nil, err
	}
	full, err := f.Toolhost(ctx, peer.House{Settings: fmt.Sprintf("ledger: {max_entries: %d}\n", bound)})
	if err != nil {
		return nil, err
	}
	for range bound + 1 {
		if _, err := full.Connect().Do(ctx, work.Arguments(work.Small)); err != nil {
			return nil, err
		}
	}
	c, err := curve(ctx, o.rounds, out, "Call, outcomes kept", "µs",
		latency("far below the bound", o, far), latency(fmt.Sprintf("at the bound of %d", bound), o, full))
	c.Flat = flat
	return []report.Curve{c}, err
}

func instancesLive(ctx context.Context, o options, f *peer.Field, out io.Writer) ([]report.Curve, error) {
	var points []point
	for _, instances := range o.amounts().instances {
		t, err := f.Toolhost(ctx, peer.House{Settings: "defaults: {isolation: session, max_instances: 200, " + unwalled + "}\n"})
		if err != nil {
			return nil, err
		}
		for i := range instances {
			if _, err := t.In(fmt.Sprint("session-", i)).Connect().Do(ctx, work.Arguments(work.Small)); err != nil {
				return nil, fmt.Errorf("starting instance %d of %d: %w", i+1, instances, err)
			}
		}
		points = append(points, latency(fmt.Sprintf("%d instances", instances), o, t.In("session-0")))
	}
	c, err := curve(ctx, o.rounds, out, "Call, instances live", "µs", points...)
	c.Flat = flat
	return []report.Curve{c}, err
}

// crowded measures a toolhost with many plugins that it has described before.
func crowded(ctx context.Context, o options, f *peer.Field, out io.Writer) ([]report.Curve, error) {
	plugins := o.amounts().plugins
	tools := 10 * plugins
	folder, err := f.Crowd(plugins, 10)
	if err != nil {
		return nil, err
	}
	house := peer.House{Plugins: folder, State: filepath.Join(folder, "..", "crowded"), Settings: "defaults: {" + unwalled + "}\n"}
	first, err := f.Toolhost(ctx, house)
	if err != nil {
		return nil, err
	}
	if err := first.Await(ctx, "crowd", tools); err != nil {
		return nil, err
	}
	var list, memory []float64
	start := point{"start to first answer, ms", func(ctx context.Context) (float64, error) {
		if err := first.Stop(); err != nil {
			return 0, err
		}
		begin := time.Now()
		if first, err = f.Toolhost(ctx, house); err != nil {
			return 0, err
		}
		if err := first.Await(ctx, "rare", tools/100); err != nil {
			return 0, err
		}
		took := time.Since(begin)
		begin = time.Now()
		if _, err := first.List(ctx, "rare"); err != nil {
			return 0, err
		}
		list = append(list, time.Since(begin).Seconds()*1000)
		resident, err := first.Resident()
		memory = append(memory, float64(resident)/(1<<20))
		return took.Seconds() * 1000, err
	}}
	ready, err := curve(ctx, o.rounds, out, fmt.Sprintf("%d tools in %d plugins that were asked before: start to first answer", tools, plugins), "ms", start)
	if err != nil {
		return nil, err
	}
	ready.Most = 1000
	return []report.Curve{ready,
		{Title: fmt.Sprintf("The same: a list of %d by a tag", tools/100), Unit: "ms", Most: 10, Points: []report.Point{{Title: "list", Figures: list[1:]}}},
		{Title: "The same: resident memory of toolhost", Unit: "MiB", Most: 100, Points: []report.Point{{Title: "memory", Figures: memory[1:]}}},
	}, nil
}

// firstStart measures how long a toolhost needs to describe plugins that it has never seen. It
// makes two rounds at most, because a thousand plugins take a minute.
func firstStart(ctx context.Context, o options, f *peer.Field, out io.Writer) ([]report.Curve, error) {
	var points []point
	for _, plugins := range o.amounts().first {
		points = append(points, point{fmt.Sprintf("%d plugins", plugins), func(ctx context.Context) (float64, error) {
			folder, err := f.Crowd(plugins, 10)
			if err != nil {
				return 0, err
			}
			begin := time.Now()
			t, err := f.Toolhost(ctx, peer.House{Plugins: folder, Settings: "defaults: {" + unwalled + "}\n"})
			if err != nil {
				return 0, err
			}
			if err := t.Await(ctx, "crowd", 10*plugins); err != nil {
				return 0, err
			}
			took := time.Since(begin)
			return took.Seconds() * 1000 / float64(plugins), t.Stop()
		}})
	}
	c, err := curve(ctx, min(o.rounds, 2), out, "First start: start until all plugins are described, of each plugin", "ms", points...)
	c.Flat = flat
	return []report.Curve{c}, err
}
