package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolhost/toolhost/bench/internal/load"
	"github.com/toolhost/toolhost/bench/internal/peer"
	"github.com/toolhost/toolhost/bench/internal/report"
	"github.com/toolhost/toolhost/bench/internal/work"
)

// baseline is the key of the contender that all others are compared with.
const baseline = "relay"

// parts are the measurements by name.
var parts = map[string]func(context.Context, options, *peer.Field, io.Writer, *report.Results) error{
	"calls": calls, "cold": cold, "growth": growth, "agent": agents, "languages": languages, "siege": siege, "telemetry": telemetry,
	"tenants": tenants, "identity": identity, "mcp": mcp, "attacks": attacks,
}

func run(ctx context.Context, o options, out io.Writer) error {
	results := report.Results{Machine: report.ThisMachine(), Rounds: o.rounds, Turn: o.length}
	for name := range strings.SplitSeq(o.parts, ",") {
		measure, ok := parts[name]
		if !ok {
			return fmt.Errorf("there is no part %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(parts)), ", "))
		}
		if err := in(o.bin, func(f *peer.Field) error { return measure(ctx, o, f, out, &results) }); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return results.Write(o.out, out)
}

// in runs one measurement and stops all processes that it started, so that they do not disturb the
// next one.
func in(bin string, measure func(*peer.Field) error) (err error) {
	field, err := peer.NewField(bin)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, field.Close()) }()
	return measure(field)
}

// calls measures calls against other ways to make them.
func calls(ctx context.Context, o options, f *peer.Field, out io.Writer, results *report.Results) error {
	contenders, err := enter(ctx, f, o)
	if err != nil {
		return err
	}
	callers, err := numbers(o.callers)
	if err != nil {
		return err
	}
	sizes, err := numbers(o.sizes)
	if err != nil {
		return err
	}
	for _, size := range sizes {
		for _, n := range callers {
			fmt.Fprintf(out, "answers of %d bytes, callers at once: %d\n", size, n)
			table, err := compare(ctx, o, contenders, size, n)
			if err != nil {
				return err
			}
			table.Baseline = baseline
			results.Tables = append(results.Tables, table)
		}
	}
	results.Memory, err = memory(contenders)
	return err
}

// enter starts the contenders.
func enter(ctx context.Context, f *peer.Field, o options) ([]peer.Contender, error) {
	host, err := f.Toolhost(ctx, peer.House{})
	if err != nil {
		return nil, err
	}
	started := func(c peer.Contender) func(context.Context) (peer.Contender, error) {
		return func(context.Context) (peer.Contender, error) { return c, nil }
	}
	version := func(v string, start func(context.Context, string) (peer.Contender, error)) func(context.Context) (peer.Contender, error) {
		return func(ctx context.Context) (peer.Contender, error) { return start(ctx, v) }
	}
	starts := map[string]func(context.Context) (peer.Contender, error){
		"hop": f.Hop, "relay": f.Relay, "goplugin": f.GoPlugin, "mcp-stdio": version(peer.Stateless, f.MCPStdio), "mcp-http": version(peer.Sessions, f.MCPHTTP),
		"mcp-proxy": version(peer.Sessions, f.MCPProxy), "percall": f.PerCall,
		"connect": started(host.Connect()), "call": started(host.Call()), "execute": started(host.Execute()),
	}
	if o.against != "" {
		before, err := f.Before(ctx, o.against)
		if err != nil {
			return nil, fmt.Errorf("the toolhost to compare with: %w", err)
		}
		for _, c := range before {
			starts[c.Key] = started(c)
		}
	}
	var all []peer.Contender
	for key, start := range starts {
		if o.only != "" && key != baseline && !slices.Contains(strings.Split(o.only, ","), strings.TrimSuffix(key, peer.Earlier)) {
			continue
		}
		c, err := start(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b peer.Contender) int { return strings.Compare(a.Key, b.Key) })
	return all, nil
}

// compare gives each contender one turn per round, each round in another order. Other load on the
// machine thus affects all contenders alike.
func compare(ctx context.Context, o options, contenders []peer.Contender, size, callers int) (report.Table, error) {
	table := report.Table{Size: size, Callers: callers, Samples: map[string][]load.Sample{}}
	for _, c := range contenders {
		table.Titles = append(table.Titles, report.Title{Key: c.Key, Text: c.Title})
	}
	for _, c := range contenders { // warm up connections, pools and processes
		if _, err := turn(ctx, c, size, callers, o.length/5); err != nil {
			return table, err
		}
	}
	for range o.rounds {
		for _, i := range rand.Perm(len(contenders)) {
			c := contenders[i]
			s, err := turn(ctx, c, size, callers, o.length)
			if err != nil {
				return table, err
			}
			table.Samples[c.Key] = append(table.Samples[c.Key], s)
		}
	}
	return table, nil
}

func turn(ctx context.Context, c peer.Contender, size, callers int, length time.Duration) (load.Sample, error) {
	arguments := work.Arguments(size)
	before, err := c.Processes.CPU()
	if err != nil {
		return load.Sample{}, err
	}
	s, err := load.Run(ctx, callers, length, func(ctx context.Context) error {
		n, err := c.Do(ctx, arguments)
		if err == nil && n != size {
			err = fmt.Errorf("the answer has %d bytes, not %d", n, size)
		}
		return err
	})
	if err != nil {
		return s, fmt.Errorf("%s: %w", c.Key, err)
	}
	after, err := c.Processes.CPU()
	if err != nil {
		return s, err
	}
	s.CPU = (after - before) * 10_000 / time.Duration(max(s.Calls, 1))
	return s, nil
}

func memory(contenders []peer.Contender) (map[string]map[string]int64, error) {
	all := map[string]map[string]int64{}
	for _, c := range contenders {
		m, err := c.Processes.Memory()
		if err != nil {
			return nil, err
		}
		all[c.Key] = m
	}
	return all, nil
}

// numbers parses numbers that are separated by commas.
func numbers(list string) ([]int, error) {
	var all []int
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is no list of whole numbers above 0, such as 1,16,64", list)
		}
		all = append(all, n)
	}
	return all, nil
}
