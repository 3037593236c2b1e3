package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/toolhost/toolhost/bench/internal/peer"
	"github.com/toolhost/toolhost/bench/internal/report"
	"github.com/toolhost/toolhost/bench/internal/work"
)

// languages measures, for each language, the first call of a plugin without a running process, and
// later calls. It omits languages that the machine lacks, with a message.
func languages(ctx context.Context, o options, f *peer.Field, out io.Writer, results *report.Results) error {
	root, err := filepath.Abs(o.root)
	if err != nil {
		return err
	}
	var first, later []point
	for _, language := range []struct {
		name  string
		start func() (*peer.Toolhost, error)
	}{
		{"Go", func() (*peer.Toolhost, error) { return f.Toolhost(ctx, peer.House{}) }},
		{"Python", func() (*peer.Toolhost, error) { return f.Python(ctx, root) }},
		{"TypeScript", func() (*peer.Toolhost, error) { return f.Node(ctx, root) }},
	} {
		t, err := language.start()
		if errors.Is(err, peer.ErrNoLanguage) {
			fmt.Fprintf(out, "%s is left out: %v\n", language.name, err)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", language.name, err)
		}
		first = append(first, firstCall(language.name, t))
		later = append(later, latency(language.name, o, t))
	}
	for _, c := range []struct {
		title, unit string
		points      []point
	}{{"First call of a cold plugin, by language", "ms", first}, {"Call, by language", "µs", later}} {
		measured, err := curve(ctx, o.rounds, out, c.title, c.unit, c.points...)
		if err != nil {
			return err
		}
		results.Curves = append(results.Curves, measured)
	}
	return nil
}

// firstCall returns the time of a call whose plugin has no running process, in milliseconds.
func firstCall(title string, t *peer.Toolhost) point {
	return point{title, func(ctx context.Context) (float64, error) {
		if err := t.Restart(ctx); err != nil {
			return 0, err
		}
		start := time.Now()
		_, err := t.Connect().Do(ctx, work.Arguments(work.Small))
		return float64(time.Since(start)) / float64(time.Millisecond), err
	}}
}
