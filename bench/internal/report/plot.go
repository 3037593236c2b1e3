package report

import (
	"fmt"
	"image/color"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/toolhost/toolhost/bench/internal/load"
)

// plots draws latency and throughput as bar charts, one file each.
func (r Results) plots(dir string) error {
	for _, p := range []struct {
		file, title, axis string
		figure            func(load.Sample) float64
		callers           func(int) bool
	}{
		{"latency.svg", "Median time of a call, one caller", "µs", p50, func(n int) bool { return n == 1 }},
		{"throughput.svg", "Calls per second, most callers", "calls/s", rate, func(n int) bool { return n == r.most() }},
	} {
		if err := r.plot(filepath.Join(dir, p.file), p.title, p.axis, p.figure, p.callers); err != nil {
			return fmt.Errorf("plotting %s: %w", p.file, err)
		}
	}
	return nil
}

func (r Results) most() int {
	most := 0
	for _, t := range r.Tables {
		most = max(most, t.Callers)
	}
	return most
}

func (r Results) plot(file, title, axis string, figure func(load.Sample) float64, callers func(int) bool) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text = title, axis+", logarithmic"
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	var names []string
	var shown int
	for _, t := range r.Tables {
		if t.Title != "" || !callers(t.Callers) {
			continue
		}
		names = names[:0]
		values := make(plotter.XYs, len(t.Titles))
		for i, c := range t.Titles {
			names = append(names, c.Text)
			values[i] = plotter.XY{X: t.Of(c.Key, figure).Median, Y: float64(i)}
		}
		dots, err := plotter.NewScatter(values)
		if err != nil {
			return err
		}
		dots.Radius, dots.Color = vg.Points(4), []color.Color{color.RGBA{B: 0xC0, A: 0xFF}, color.RGBA{R: 0xC0, A: 0xFF}}[shown%2]
		shown++
		p.Add(dots)
		p.Legend.Add(fmt.Sprintf("%d bytes", t.Size), dots)
	}
	if shown == 0 {
		return nil
	}
	p.Add(plotter.NewGrid())
	p.NominalY(names...)
	p.Legend.Top = true
	return p.Save(18*vg.Centimeter, 10*vg.Centimeter, file)
}
