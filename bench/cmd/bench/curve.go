package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/toolhost/toolhost/bench/internal/report"
)

// point is one measured variant. Each round measures it once.
type point struct {
	title   string
	measure func(context.Context) (float64, error)
}

// curve measures all points once per round, each round in another order, after one warm-up round.
func curve(ctx context.Context, rounds int, out io.Writer, title, unit string, points ...point) (report.Curve, error) {
	fmt.Fprintln(out, title)
	c := report.Curve{Title: title, Unit: unit, Points: make([]report.Point, len(points))}
	for i, p := range points {
		c.Points[i].Title = p.title
	}
	for round := range rounds + 1 {
		for _, i := range rand.Perm(len(points)) {
			figure, err := points[i].measure(ctx)
			if err != nil {
				return c, fmt.Errorf("%s, %s: %w", title, points[i].title, err)
			}
			if round > 0 {
				c.Points[i].Figures = append(c.Points[i].Figures, figure)
			}
		}
	}
	return c, nil
}
