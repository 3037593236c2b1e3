package hosttelemetry

import (
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/toolhost/toolhost/server/internal/telemetry"
)

// counts is a counter that every call increments. An increment is an atomic addition. A measurement
// of OpenTelemetry costs several allocations, and costs them for each reader. The readers get the
// totals as an observable counter.
//
// K is a struct of labels. A zero counts is not usable: set labelsOf.
type counts[K comparable] struct {
	labelsOf func(K) []attribute.KeyValue
	timingOf func(K) []attribute.KeyValue // the labels of durations; nil: there are none

	mu    sync.RWMutex
	made  map[K]*count
	order []*count // those of made, in the order of creation
	rest  *count   // beyond telemetry.MaxSeries
}

// count is the total for one set of labels.
type count struct {
	atomic.Int64
	labels metric.MeasurementOption
	timing []metric.RecordOption // the labels of durations, ready to be passed on without a copy
}

// of returns the count for labels. Beyond telemetry.MaxSeries it returns one that all further
// labels share, with the label that OpenTelemetry uses for that.
func (c *counts[K]) of(labels K) *count {
	c.mu.RLock()
	found := c.made[labels]
	c.mu.RUnlock()
	if found != nil {
		return found
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.made[labels] != nil: // another goroutine was faster
		return c.made[labels]
	case len(c.made) < telemetry.MaxSeries:
		made := &count{labels: setOf(c.labelsOf(labels)...)}
		if c.timingOf != nil {
			made.timing = []metric.RecordOption{setOf(c.timingOf(labels)...)}
		}
		if c.made == nil {
			c.made = map[K]*count{}
		}
		c.made[labels] = made
		c.order = append(c.order, made)
		return made
	case c.rest == nil:
		overflow := setOf(attribute.Bool("otel.metric.overflow", true))
		c.rest = &count{labels: overflow, timing: []metric.RecordOption{overflow}}
	}
	return c.rest
}

// observe reports all totals, in the order of their creation. The rest is last, because the SDK
// puts all later series into the overflow series once that exists.
func (c *counts[K]) observe(counter metric.Int64ObservableCounter, o metric.Observer) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, n := range c.order {
		o.ObserveInt64(counter, n.Load(), n.labels)
	}
	if c.rest != nil {
		o.ObserveInt64(counter, c.rest.Load(), c.rest.labels)
	}
}

func setOf(labels ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributeSet(attribute.NewSet(labels...))
}

// texts returns the labels that are not empty. named alternates names and values.
func texts(named ...string) []attribute.KeyValue {
	var set []attribute.KeyValue
	for i := 0; i < len(named); i += 2 {
		if named[i+1] != "" {
			set = append(set, attribute.String(named[i], named[i+1]))
		}
	}
	return set
}
