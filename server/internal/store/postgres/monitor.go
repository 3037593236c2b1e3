package postgres

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

const (
	// attentive is the pause between two attempts to reach a database that is gone.
	attentive = 500 * time.Millisecond
	// calm is the pause between two checks of a database that answers.
	calm = 5 * time.Second
	// quiet is the shortest time between two log lines that say that the database is gone. So a
	// database that comes and goes does not fill the log.
	quiet = 30 * time.Second
)

// monitor knows whether the database can be reached. Each action reports how it ended. In addition,
// a goroutine asks the database, so that the log is right when nothing uses the database.
type monitor struct {
	name string
	log  *slog.Logger
	ping func(context.Context) error

	cancel  context.CancelFunc
	stopped chan struct{} // closed when the goroutine has ended
	news    chan struct{} // capacity 1: the database is gone, ask again soon

	mu     sync.Mutex
	since  time.Time // when it went; zero: it is there
	logged time.Time // the last line that it is gone
	told   bool      // the log has a line that it is gone, so its return gets one, too
}

// newMonitor starts the goroutine, which close stops.
func newMonitor(name string, log *slog.Logger, ping func(context.Context) error) *monitor {
	ctx, cancel := context.WithCancel(context.Background())
	m := &monitor{name: name, log: log, ping: ping, cancel: cancel, stopped: make(chan struct{}), news: make(chan struct{}, 1)}
	go m.watch(ctx) // ends with close, which waits
	return m
}

func (m *monitor) close() {
	m.cancel()
	<-m.stopped
}

func (m *monitor) gone() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.since
}

// saw notes how an action ended.
func (m *monitor) saw(err error) {
	switch {
	case errors.Is(err, context.Canceled) || errors.Is(err, ErrClosed) || errors.Is(err, errBusy): // says nothing about it
	case errors.Is(err, ErrUnavailable):
		m.lost(err)
	default:
		m.found()
	}
}

func (m *monitor) lost(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.since.IsZero() {
		return
	}
	now := time.Now()
	m.since = now
	select {
	case m.news <- struct{}{}:
	default:
	}
	if m.told = now.Sub(m.logged) >= quiet; m.told {
		m.logged = now
		m.log.Error("the database is gone; work that needs it waits", "database", m.name, "error", err)
	}
}

func (m *monitor) found() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.since.IsZero() {
		return
	}
	if m.told {
		m.log.Info("the database is back", "database", m.name, "after", time.Since(m.since).Round(time.Millisecond))
	}
	m.since, m.told = time.Time{}, false
}

// watch asks the database from time to time, until close.
func (m *monitor) watch(ctx context.Context) {
	defer close(m.stopped)
	timer := time.NewTimer(calm)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.news:
		case <-timer.C:
			m.saw(m.ping(ctx))
		}
		pause := calm
		if !m.gone().IsZero() {
			pause = attentive
		}
		timer.Reset(pause)
	}
}
