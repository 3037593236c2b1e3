package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/tool"
)

const (
	// overloadTries is how often an overloaded model gets a request if another model can get it next.
	// One repetition helps against a short peak. More of them only delay the run.
	overloadTries = 2
	// overloadWait is the longest pause that an overloaded model may ask for before the request goes
	// to the next model at once.
	overloadWait = 5 * time.Second
	// longestLimit is how long a request to the last model is repeated that is refused because of too
	// many requests. A limit that holds for so long is not one of a minute.
	longestLimit = time.Hour
)

// route decides which model gets the next attempt of one model request.
//
// A request begins with the first model of the run. A failed attempt is repeated as
// Config.ModelRetry says. The next model gets the request when the model is overloaded twice, when
// the conversation is too long for it, when the client cannot use it (a wrong key, no credit, no
// such model), when it asks for a pause longer than maxRetryAfter, and when all attempts that may
// succeed have failed. Any other failure, such as a refused request, ends the request, because
// every model would get what one has refused. A request that the last model refuses because there
// are too many waits for its turn, see pacer, and uses up no attempts. Nothing of a failed attempt
// enters the journal, except what it has cost: watchers drop what they were shown, previews are
// abandoned, and calls begin only with a complete response. So a fallback in the middle of a stream
// doubles nothing.
//
// A route is for one goroutine.
type route struct {
	models []routed
	retry  Retry

	at        int       // the current model, an index of models
	attempts  int       // of the request, with the current one
	tries     int       // attempts of the current model, with the current one
	malformed int       // of the current model
	limited   time.Time // when the last model was first refused because of too many requests; zero: it was not
	tooLong   *model.Error
	wasted    tool.Usage // of failed attempts
	cost      float64    // of wasted
}

// routed is a model of a run that can be used.
type routed struct {
	*OfferedModel
	place int // among the fallbacks of the run, from 1; 0: the first model
}

// newRoute returns the route of a request with these messages. A fallback that does not read all of
// their attachments never gets the request.
func (r *run) newRoute(messages []model.Message) route {
	models := r.models
	if len(models) > 1 {
		models = slices.DeleteFunc(slices.Clone(models), func(m routed) bool { return m.place > 0 && !model.FeaturesOf(m.Model).Reads(messages) })
	}
	return route{models: models, retry: r.config.ModelRetry, attempts: 1, tries: 1}
}

func (r *route) current() routed { return r.models[r.at] }

// last reports whether no other model can get the request after the current one.
func (r *route) last() bool { return r.at == len(r.models)-1 }

// step is what follows a failed attempt.
type step struct {
	again bool          // there is another attempt
	next  bool          // it goes to another model
	pause time.Duration // before it
}

// failed counts a failed attempt and returns what follows.
func (r *route) failed(f *model.Error) step {
	r.wasted = r.wasted.Add(f.Usage)
	r.cost += r.current().cost(f.Usage)
	if f.Malformed {
		r.malformed++
	}
	last := r.last()
	limited := last && f.RateLimited() && f.RetryAfter <= maxRetryAfter
	if limited && r.limited.IsZero() {
		r.limited = time.Now()
	}
	if limited && time.Since(r.limited) < longestLimit {
		r.attempts++
		return step{again: true} // the pacer has the pause
	}
	over := limited || f.ContextOverflow || f.Unusable || f.RetryAfter > maxRetryAfter || r.tries >= r.retry.MaxAttempts || r.malformed >= loop.MaxMalformed ||
		!last && f.Overloaded() && (r.tries >= overloadTries || f.RetryAfter > overloadWait)
	if f.ContextOverflow && r.tooLong == nil {
		r.tooLong = f
	}
	switch {
	case !f.Retryable && !f.ContextOverflow && !f.Unusable, over && last:
		return step{}
	case over:
		r.at, r.attempts, r.tries, r.malformed = r.at+1, r.attempts+1, 1, 0
		return step{again: true, next: true}
	}
	pause := r.retry.pause(r.tries, f.RetryAfter)
	r.attempts, r.tries = r.attempts+1, r.tries+1
	return step{again: true, pause: pause}
}

// words describes the failure that ended the request.
func (r *route) words(f *model.Error) string {
	words := f.Error()
	if r.attempts > 1 {
		words = fmt.Sprintf("%s (after %d attempts)", words, r.attempts)
	}
	if f.Retryable && f.RetryAfter > maxRetryAfter {
		words += fmt.Sprintf("; it is worth trying again in %s, at %s", f.RetryAfter.Round(time.Second), time.Now().Add(f.RetryAfter).UTC().Format(time.RFC3339))
	}
	return words
}

// repeat logs a failed attempt and waits before the next one. It returns false if ctx ends.
func (r *route) repeat(ctx context.Context, log *runLog, words string, s step, f *model.Error) bool {
	log.fact(loglevel.Models, slog.LevelWarn, words, "model", r.current().Model.Name(), "fallback", s.next, "attempt", r.attempts, "pause", s.pause, "error", f)
	return sleep(ctx, s.pause) == nil
}

// errIdle is the cause that ends a silent stream.
var errIdle = errors.New("the model's stream has stalled")

// stream makes one attempt, which fails if nothing comes for idle. It calls see for each chunk but
// the last, and returns the response.
func stream(parent context.Context, m model.Model, idle time.Duration, request model.Request, see func(model.Chunk)) (*model.Response, error) {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	watchdog := time.AfterFunc(idle, func() { cancel(errIdle) })
	defer watchdog.Stop()
	var size responseSize
	for chunk, err := range m.Generate(ctx, request) {
		watchdog.Reset(idle)
		switch {
		case err != nil && errors.Is(context.Cause(ctx), errIdle):
			return nil, &model.Error{Message: fmt.Sprintf("%v: nothing came for %s", errIdle, idle), Retryable: true, Usage: modelError(err).Usage, Err: err}
		case err != nil:
			return nil, err
		}
		if err := size.add(&chunk); err != nil {
			return nil, err
		}
		if chunk.Response != nil {
			return chunk.Response, nil
		}
		see(chunk)
	}
	return nil, &model.Error{Message: "the model's stream ended before the response was complete", Retryable: true}
}

// modelError returns err as a *model.Error. An error of another type is not retried.
func modelError(err error) *model.Error {
	if e, ok := errors.AsType[*model.Error](err); ok {
		return e
	}
	return &model.Error{Message: err.Error(), Err: err}
}
