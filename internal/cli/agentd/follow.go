package agentd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/toolhost/toolhost/internal/agent/loop"
	"github.com/toolhost/toolhost/internal/cli/terminal"
)

// errLeft says that a run was left while it waited, or worked: nobody is there any more.
var errLeft = errors.New("left")

// follower shows a run as it happens, cancels it when it is told to, and asks people in place. It is for one goroutine.
type follower struct {
	agent  runs
	show   display
	people *interview // who is asked
	log    *slog.Logger

	done    <-chan struct{}  // cancels the run, once
	signals <-chan os.Signal // the first cancels the run, the second leaves it
	quit    <-chan struct{}  // leaves the run

	spinner *spinner // animates the display; nil: there is none

	held     []loop.Event // not shown while a question stands on the screen
	headless []*loop.CallResult
}

// seen is what a watch yields.
type seen struct {
	event loop.Event
	err   error
}

// follow shows a run's events after a place to the end and returns how it ended, and up to where it was shown.
func (f *follower) follow(ctx context.Context, runID string, after uint64) (end *loop.RunFinished, at uint64, err error) {
	ctx, stop := context.WithCancel(ctx)
	events := make(chan seen)
	watched := make(chan struct{})
	go func() { // ends with the watch, or with stop; waited for below
		defer close(watched)
		defer close(events)
		for e, err := range f.agent.WatchRun(ctx, runID, after) {
			select {
			case events <- seen{e, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	defer func() { stop(); <-watched }()
	at = after
	done, cancelled := f.done, false
	for {
		if err := f.ask(); err != nil {
			return nil, at, err
		}
		var lines <-chan terminal.Typed
		if f.people.asking() {
			lines = f.people.console.Read()
		}
		select {
		case s, more := <-events:
			if !more || s.err != nil {
				return end, at, errors.Join(f.release(), s.err)
			}
			at = max(at, s.event.Seq)
			end, _ = s.event.Payload.(*loop.RunFinished)
			if err := f.below(ctx, runID, s.event); err != nil {
				return nil, at, err
			}
			if err := f.take(s.event); err != nil {
				return nil, at, err
			}
		case line := <-lines:
			f.people.console.Take()
			if err := f.answer(ctx, runID, line); err != nil {
				return nil, at, err
			}
		case <-f.spinner.ticks():
			if err := f.spinner.next(); err != nil {
				return nil, at, err
			}
		case <-done:
			done = nil
			f.cancel(ctx, runID)
		case <-f.quit:
			return nil, at, errLeft
		case <-f.signals:
			if cancelled {
				return nil, at, errLeft
			}
			cancelled = true
			f.cancel(ctx, runID)
		}
	}
}

// take shows an event, or holds it back while somebody types. What settles the question is learned at once.
func (f *follower) take(e loop.Event) error {
	f.people.note(e)
	if r, ok := e.Payload.(*loop.CallResult); ok && needsPerson(r) {
		f.headless = append(f.headless, r)
	}
	f.held = append(f.held, e)
	if f.people.asking() {
		return nil
	}
	return f.release()
}

// below learns what sub-runs wait for, where an event says that this has changed. The run itself is followed, so that the
// decisions of its sub-runs are asked for, rather than seen.
func (f *follower) below(ctx context.Context, runID string, e loop.Event) error {
	if _, changed := e.Payload.(*loop.SubRunWaiting); !changed || f.people.console == nil {
		return nil
	}
	r, err := f.agent.GetRun(ctx, runID)
	if err != nil {
		return err
	}
	f.people.expectBelow(r.Pending)
	return nil
}

// release shows what was held back.
func (f *follower) release() error {
	held := f.held
	f.held = nil
	for _, e := range held {
		if err := f.show.show(e); err != nil {
			return fmt.Errorf("writing the output: %w", err)
		}
	}
	return nil
}

// ask asks what is to be asked, after all else is shown.
func (f *follower) ask() error {
	before := f.people.asking()
	if err := f.people.ask(); err != nil {
		return err
	}
	if before && !f.people.asking() {
		return f.release()
	}
	return nil
}

// answer hands on what somebody typed.
func (f *follower) answer(ctx context.Context, runID string, line terminal.Typed) error {
	if line.Err != nil {
		return errors.Join(errLeft, f.people.console.Say("\n"))
	}
	made, err := f.people.hear(line.Text)
	if err != nil {
		if errors.Is(err, errNoAnswer) {
			return nil
		}
		return err
	}
	f.people.hand(made.ID)
	f.people.show.inLine = !f.people.console.Echoes
	if err := f.release(); err != nil {
		return err
	}
	if _, err := f.agent.Respond(ctx, runID, made); err != nil {
		f.log.Warn("the decision came too late", "decision", made.ID, "err", err)
		f.people.settle(made.ID)
	} else if f.people.isBelow(made.ID) { // its event is in the sub-run's journal, which is not followed
		f.people.settle(made.ID)
	}
	return nil
}

func (f *follower) cancel(ctx context.Context, runID string) {
	if err := f.agent.CancelRun(ctx, runID, "interrupted"); err != nil {
		f.log.Error("cancelling the run", "error", err)
	}
}
