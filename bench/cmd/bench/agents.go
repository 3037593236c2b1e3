package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/bench/internal/load"
	"github.com/toolhost/toolhost/bench/internal/peer"
	"github.com/toolhost/toolhost/bench/internal/report"
)

// turnsOfARun is the number of turns with a call in a measured run. The cost of a turn grows with
// the length of its run.
const turnsOfARun = 20

// agents measures the cost of agentd itself. Model and tool answer immediately.
func agents(ctx context.Context, o options, f *peer.Field, out io.Writer, results *report.Results) error {
	host, err := f.Toolhost(ctx, peer.House{})
	if err != nil {
		return err
	}
	for _, measure := range []func(context.Context, options, *peer.Field, io.Writer, *peer.Toolhost) ([]report.Curve, error){
		turns, long,
	} {
		curves, err := measure(ctx, o, f, out, host)
		if err != nil {
			return err
		}
		results.Curves = append(results.Curves, curves...)
	}
	return nil
}

func turns(ctx context.Context, o options, f *peer.Field, out io.Writer, host *peer.Toolhost) ([]report.Curve, error) {
	agent, err := f.Agentd(ctx, host, peer.Story{Turns: turnsOfARun, Calls: 1}, "", "")
	if err != nil {
		return nil, err
	}
	perSecond := report.Curve{Title: fmt.Sprintf("Runs of %d turns with a call each", turnsOfARun), Unit: "runs/s"}
	points := []point{latency("the call alone, by Connect", o, host)}
	for i, runs := range []int{1, 16, 64} {
		perSecond.Points = append(perSecond.Points, report.Point{Title: fmt.Sprintf("%d at once", runs)})
		points = append(points, point{fmt.Sprintf("turn, runs at once: %d", runs), func(ctx context.Context) (float64, error) {
			s, err := load.Run(ctx, runs, o.length, func(ctx context.Context) error {
				_, _, err := agent.Run(ctx, "")
				return err
			})
			perSecond.Points[i].Figures = append(perSecond.Points[i].Figures, s.Rate)
			return 1e6 / (s.Rate * turnsOfARun), err
		}})
	}
	c, err := curve(ctx, o.rounds, out, "Turns of agentd with one call, time for each", "µs", points...)
	if err != nil {
		return nil, err
	}
	for i := range perSecond.Points {
		perSecond.Points[i].Figures = perSecond.Points[i].Figures[1:]
	}
	return []report.Curve{c, perSecond}, nil
}

// tale is a run with a journal of known length. Its agentd can be restarted.
type tale struct {
	story   peer.Story
	journal string
	run     string
	events  uint64
	agent   *peer.Agentd
}

// long measures runs of about 100 and 10,000 events: how fast a watcher reads them, and how long a
// new agentd needs to continue one.
func long(ctx context.Context, o options, f *peer.Field, out io.Writer, host *peer.Toolhost) ([]report.Curve, error) {
	dir, err := f.Folder("journals")
	if err != nil {
		return nil, err
	}
	var tales []*tale
	for i, s := range []peer.Story{{Turns: 4, Calls: 11}, {Turns: 100, Calls: 49}} {
		t := &tale{story: s, journal: filepath.Join(dir, fmt.Sprint(i))}
		if t.agent, err = f.Agentd(ctx, host, s, t.journal, ""); err != nil {
			return nil, err
		}
		if t.run, t.events, err = t.agent.Run(ctx, ""); err != nil {
			return nil, err
		}
		tales = append(tales, t)
	}
	read, err := curve(ctx, o.rounds, out, "Events to those who watch, from a journal", "events/s",
		tales[1].watched(o, 1), tales[1].watched(o, 16))
	if err != nil {
		return nil, err
	}
	var resumed []point
	for _, t := range tales {
		resumed = append(resumed, t.resumed(f, host))
	}
	again, err := curve(ctx, o.rounds, out, "Going on with a run after a restart of agentd, until it has answered", "ms", resumed...)
	again.Flat = flat
	return []report.Curve{read, again}, err
}

// watched returns how many events of the run per second reach all watchers together.
func (t *tale) watched(o options, watchers int) point {
	return point{fmt.Sprintf("watchers: %d", watchers), func(ctx context.Context) (float64, error) {
		var events atomic.Int64
		begin := time.Now()
		_, err := load.Run(ctx, watchers, o.length, func(ctx context.Context) error {
			_, n, err := t.agent.Watch(ctx, t.run, 0)
			events.Add(int64(n))
			return err
		})
		return float64(events.Load()) / time.Since(begin).Seconds(), err
	}}
}

// resumed returns how long a new agentd needs to read the run and to answer a message.
func (t *tale) resumed(f *peer.Field, host *peer.Toolhost) point {
	return point{fmt.Sprintf("%d events", t.events), func(ctx context.Context) (_ float64, err error) {
		if err := t.agent.Stop(); err != nil {
			return 0, err
		}
		if t.agent, err = f.Agentd(ctx, host, t.story, t.journal, ""); err != nil {
			return 0, err
		}
		if err := t.agent.Ready(ctx); err != nil {
			return 0, err
		}
		begin := time.Now()
		err = t.agent.Say(ctx, t.run)
		return time.Since(begin).Seconds() * 1000, err
	}}
}
