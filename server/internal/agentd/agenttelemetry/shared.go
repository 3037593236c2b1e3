package agenttelemetry

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

const (
	// sharedTime is how long what a store knows of all servers counts. A metric is read more rarely.
	sharedTime = 10 * time.Second
	// sharedAsk bounds the question, so that a database that is gone does not fail the reader of the
	// metrics.
	sharedAsk = 2 * time.Second
)

// CountShared adds what a store knows of all its servers: runs that no process has to the gauges of
// runs, and a gauge of the servers. A collection of the metrics calls count at most every ten
// seconds, and one after the other. If it fails, what it returned last counts. A nil Observer, and
// one without metrics, never call it.
func (o *Observer) CountShared(count func(ctx context.Context) (runstore.Census, error)) error {
	if o == nil || o.meters == nil {
		return nil
	}
	all := &shared{count: count}
	o.mu.Lock()
	o.shared = all
	o.mu.Unlock()
	nodes, err := o.meters.meter.Int64ObservableGauge("agentd.nodes", metric.WithDescription("Agentds of the journal in a database, by state: live, silent or lost."))
	if err != nil {
		return err
	}
	_, err = o.meters.meter.RegisterCallback(func(ctx context.Context, observer metric.Observer) error {
		c := all.read(ctx)
		for state, number := range map[string]int{"live": c.Live, "silent": c.Silent, "lost": c.Lost} {
			observer.ObserveInt64(nodes, int64(number), metric.WithAttributes(attribute.String("state", state)))
		}
		return nil
	}, nodes)
	return err
}

// shared is what a store knows of all its servers.
type shared struct {
	count func(ctx context.Context) (runstore.Census, error)

	mu    sync.Mutex
	asked time.Time
	last  runstore.Census
}

func (s *shared) read(ctx context.Context) runstore.Census {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked.IsZero() || time.Since(s.asked) >= sharedTime {
		ctx, cancel := context.WithTimeout(ctx, sharedAsk)
		defer cancel()
		if c, err := s.count(ctx); err == nil {
			s.last = c
		}
		s.asked = time.Now()
	}
	return s.last
}
