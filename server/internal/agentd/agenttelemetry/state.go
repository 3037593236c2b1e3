package agenttelemetry

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/metric"
)

// State is what agentd keeps on disk, in bytes.
type State struct {
	Journal  int64 // the files of the journal
	DiskFree int64 // of the file system of the journal; negative: unknown
	DiskSize int64
}

// Observe registers the gauges of the state. measure must return quickly; each collection of the
// metrics calls it. A nil Observer, and one without metrics, never call it.
func (o *Observer) Observe(measure func() State) error {
	if o == nil || o.meters == nil {
		return nil
	}
	var errs []error
	gauge := func(name, about string) metric.Int64ObservableGauge {
		g, err := o.meters.meter.Int64ObservableGauge(name, metric.WithUnit("By"), metric.WithDescription(about))
		errs = append(errs, err)
		return g
	}
	journal := gauge("agentd.journal.size", "The size of the files of the journal.")
	free := gauge("agentd.disk.free", "Free space of the file system of the journal.")
	size := gauge("agentd.disk.size", "The size of this file system.")
	if err := errors.Join(errs...); err != nil {
		return err
	}
	_, err := o.meters.meter.RegisterCallback(func(_ context.Context, observer metric.Observer) error {
		s := measure()
		observer.ObserveInt64(journal, s.Journal)
		if s.DiskFree >= 0 {
			observer.ObserveInt64(free, s.DiskFree)
			observer.ObserveInt64(size, s.DiskSize)
		}
		return nil
	}, journal, free, size)
	return err
}
