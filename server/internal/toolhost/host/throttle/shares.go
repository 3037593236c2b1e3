package throttle

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/toolhost/toolhost/tool"
)

const (
	// shareTime is how long a share may be used. It is short, because what is not used by then is lost
	// to all toolhosts until the share counts no more.
	shareTime = 10 * time.Second
	// counted is how long a share counts as used: its last start may be shareTime after it was taken,
	// and counts for a rateWindow then.
	counted = rateWindow + shareTime
	// askTime bounds a question, and how long a call waits for shares. It is as long as the beginning
	// of a call waits for the database of a shared ledger.
	askTime = 5 * time.Second
	// askPause is the shortest pause after a question that got nothing.
	askPause = time.Second
)

// errSlow is why a call waits no longer.
var errSlow = errors.New("the shares took too long")

// Leases is where toolhosts take shares of the starts of a scope, a tenant or a principal. It is
// safe for concurrent use.
type Leases interface {
	// TakeStarts takes starts that count as used for the given time from then on: at most `most`, and
	// at most a sixteenth of what remains of the limit, or one. If nothing remains, it takes none, and
	// returns the time until some of those that were taken count no more. What a TakeStarts that
	// failed has taken counts, too.
	TakeStarts(ctx context.Context, scope string, limit, most int, counted time.Duration) (starts int, wait time.Duration, err error)
}

// Shares counts starts per minute for many toolhosts together.
//
// The problem: a quota holds for all toolhosts, and a call must not wait for a database. The
// idea: a toolhost takes a share of what remains, which counts as used at once, and admits calls
// from it for a short time. The invariant: of the shares that can be used within any 60 seconds,
// the last one was taken while all others counted. So the starts in any 60 seconds are within the
// limit, also if a toolhost is killed: what it has not used is lost for a minute.
//
// A share is at most twice what was used of the one before. So about half of a quota can be used,
// however the calls are spread over toolhosts and time, and all of it by calls that use their
// shares up.
type Shares struct {
	ctx    context.Context // of questions; its end ends them
	leases Leases
	spawn  func(f func()) bool
	log    *slog.Logger

	mu      sync.Mutex
	scopes  map[string]*share
	swept   time.Time // when shares that are over were last removed
	failing bool      // as the log says
}

// NewShares returns Shares that have taken nothing. spawn runs a function in a goroutine of the
// caller, or returns false if the caller is closing. The goroutines end five seconds after they
// began, or with the context.
func NewShares(ctx context.Context, leases Leases, spawn func(f func()) bool, log *slog.Logger) *Shares {
	return &Shares{ctx: ctx, leases: leases, spawn: spawn, log: log, scopes: map[string]*share{}}
}

// quota is the starts per minute of a tenant or a principal.
type quota struct {
	who   string // such as "tenant red"
	limit int    // 0: unlimited
}

// share is what Shares have of one scope. The zero value has nothing.
type share struct {
	taken, left int           // of the last question
	limit       int           // with which it was asked
	asked       time.Time     // when it was sent
	again       time.Time     // no other question before
	failed      bool          // it was not answered
	asking      chan struct{} // closed when the question is answered; nil: there is none
}

// usable reports whether a start may be taken from the share. It looks at two clocks: the monotonic
// clock of a machine does not count the time when the machine was suspended, and the wall clock can
// be set back. A reload may have made the limit smaller.
func (s *share) usable(now time.Time, limit int) bool {
	return s.left > 0 && s.limit <= limit && now.Sub(s.asked) < shareTime && now.Round(0).Sub(s.asked.Round(0)) < shareTime
}

// most returns how much the next question may take.
func (s *share) most() int {
	used := s.taken - s.left
	if s.left == 0 {
		used *= 2
	}
	return max(used, 1)
}

// admit counts a start for all quotas, or for none. It waits only if a share is empty.
func (s *Shares) admit(ctx context.Context, quotas ...quota) *tool.Error {
	answered, err := s.take(quotas)
	if answered == nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, askTime, errSlow)
	defer cancel()
	for answered != nil {
		select {
		case <-answered:
			answered, err = s.take(quotas)
		case <-ctx.Done():
			if cause := context.Cause(ctx); !errors.Is(cause, errSlow) {
				return tool.AsError(cause)
			}
			return unanswered()
		}
	}
	return err
}

// take takes a start from the share of each quota. If one of them has to be asked for, it takes
// nothing, and returns what is closed when the question is answered.
func (s *Shares) take(quotas []quota) (answered <-chan struct{}, _ *tool.Error) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweepLocked(now)
	for _, q := range quotas { // first, so that no share is taken for a call that is refused anyway
		if err := s.refusedLocked(q, now); err != nil {
			return nil, err
		}
	}
	for _, q := range quotas {
		if q.limit == 0 {
			continue
		}
		of := s.scopes[q.who]
		if of == nil {
			of = &share{}
			s.scopes[q.who] = of
		}
		switch {
		case of.asking != nil:
			return of.asking, nil
		case !of.usable(now, q.limit):
			most := of.most()
			if !s.spawn(func() { s.ask(q, of, most) }) { // ends with askTime or s.ctx
				return nil, unanswered()
			}
			of.asking = make(chan struct{})
			return of.asking, nil
		}
	}
	for _, q := range quotas {
		if q.limit > 0 {
			s.scopes[q.who].left--
		}
	}
	return nil, nil
}

// refusedLocked returns why no start of a quota can be taken or asked for now, or nil.
func (s *Shares) refusedLocked(q quota, now time.Time) *tool.Error {
	of := s.scopes[q.who]
	switch {
	case q.limit == 0, of == nil, of.asking != nil, of.usable(now, q.limit), !now.Before(of.again):
		return nil
	case of.failed:
		return unanswered()
	case of.limit < q.limit: // a reload has raised it
		return nil
	}
	return exceeded(of.again.Sub(now), "the %s has no start left in these 60 seconds at all toolhosts together, and its quota starts_per_minute is %d", q.who, q.limit)
}

// ask takes a share, whoever waits for it.
func (s *Shares) ask(q quota, of *share, most int) {
	ctx, cancel := context.WithTimeout(s.ctx, askTime)
	defer cancel()
	asked := time.Now()
	starts, wait, err := s.leases.TakeStarts(ctx, q.who, q.limit, most, counted)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		starts, wait = 0, 0
		if !s.failing {
			s.log.Warn("taking a share of the quota starts_per_minute failed; calls are refused when their shares are used up, while that lasts", "of", q.who, "error", err)
		}
	}
	s.failing = err != nil
	of.taken, of.left, of.limit, of.asked, of.failed = starts, starts, q.limit, asked, err != nil
	if starts == 0 {
		of.again = time.Now().Add(max(wait, askPause))
	}
	close(of.asking)
	of.asking = nil
}

func unanswered() *tool.Error {
	return tool.Errorf(tool.KindUnavailable, "how many calls this caller may start in this minute is not known, because the database that counts its quota starts_per_minute does not answer; "+
		"nothing was executed; try again later")
}

// sweepLocked removes what is over. It does so once in a rateWindow.
func (s *Shares) sweepLocked(now time.Time) {
	if now.Sub(s.swept) < rateWindow {
		return
	}
	s.swept = now
	for who, of := range s.scopes {
		if of.asking == nil && now.Sub(of.asked) >= shareTime && now.After(of.again) {
			delete(s.scopes, who)
		}
	}
}
