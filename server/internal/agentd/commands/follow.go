package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/terminal"
)

// errLeft means that the command stopped following a run that has not ended.
var errLeft = errors.New("left")

// follower shows the events of a run, cancels the run on a signal, and asks a person for decisions.
// It is for one goroutine.
type follower struct {
	agent  *client.AgentClient
	show   display
	people *interview // asks the person
	log    *slog.Logger

	done    <-chan struct{}  // when closed, cancels the run
	signals <-chan os.Signal // the first signal cancels the run, the second one stops following it
	quit    <-chan struct{}  // when closed, stops following the run
	// looks says that the person has only looked at the run of another process. The first signal then
	// stops following it.
	looks bool
	// private is the toolhost of this command; nil if another process started it. If it ends, the
	// follower stops following. Otherwise the run would try to reach it for a while, and end with an
	// error. So it stays unfinished, and a later command continues it with another toolhost.
	private *privateToolhost

	// waits gets a line for each decision that a person has to make elsewhere; nil: none.
	waits io.Writer

	spinner *spinner        // animates the display; may be nil
	ahead   *terminal.Ahead // takes what the person types while there is no question; may be nil
	typed   func() error    // called after the person typed ahead; required with ahead

	held     []client.RunEvent // events that arrive while a question is on the screen
	headless []*client.CallResult
}

// seen is an item of a watch.
type seen struct {
	event client.RunEvent
	err   error
}

// follow shows the events of a run after a sequence number until the run ends. It returns the end,
// and the number of the last event.
func (f *follower) follow(ctx context.Context, runID string, after uint64) (end *client.RunEnded, at uint64, err error) {
	events, stop := f.watch(ctx, runID, after)
	defer stop()
	defer f.people.editor.end()
	defer f.people.console.Withdraw()
	defer f.ahead.Stop()
	at = after
	done, lost, cancelled := f.done, f.private.ended(), false
	for {
		if err := f.ask(); err != nil {
			return nil, at, err
		}
		if f.people.asking() {
			f.ahead.Stop()
		} else {
			f.ahead.Start()
		}
		select {
		case s, more := <-events:
			if !more || s.err != nil {
				return end, at, errors.Join(f.release(), s.err)
			}
			at = max(at, s.event.Seq)
			end, _ = s.event.Payload.(*client.RunEnded)
			if err = f.below(ctx, runID, s.event); err == nil {
				err = f.take(runID, s.event)
			}
		case line := <-f.lines():
			f.people.console.Take()
			err = f.answer(ctx, runID, line)
		case e := <-f.people.editor.result():
			err = f.decide(ctx, runID, func() (client.Decision, error) { return f.people.hearEdit(e) })
		case <-f.ahead.Changed():
			err = f.typed()
		case <-f.spinner.ticks():
			err = f.spinner.next()
		case <-done:
			done, lost = nil, nil // a canceled run ends, with or without its toolhost
			f.cancel(ctx, runID)
		case <-lost:
			err = f.private.lost()
		case <-f.quit:
			err = errLeft
		case <-f.signals:
			if cancelled || f.looks {
				return nil, at, errLeft
			}
			cancelled, lost = true, nil
			f.cancel(ctx, runID)
		}
		if err != nil {
			return nil, at, err
		}
	}
}

// watch returns the events of a run after a sequence number. stop ends the watch and waits for its
// goroutine.
func (f *follower) watch(ctx context.Context, runID string, after uint64) (_ <-chan seen, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	events := make(chan seen)
	watched := make(chan struct{})
	go func() { // ends with the watch, or with stop, which waits for it
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
	return events, func() { cancel(); <-watched }
}

// lines returns what the person types, or nil while there is no question.
func (f *follower) lines() <-chan terminal.Typed {
	if !f.people.asking() || f.people.editor.busy() {
		return nil
	}
	return f.people.console.Read()
}

// take shows an event, or keeps it while a person types. An event that settles the question takes
// effect at once.
func (f *follower) take(runID string, e client.RunEvent) error {
	f.people.note(e)
	if r, ok := e.Payload.(*client.CallResult); ok && needsPerson(r) {
		f.headless = append(f.headless, r)
	}
	if d, ok := e.Payload.(*client.DecisionRequested); ok && f.waits != nil {
		if _, err := fmt.Fprintf(f.waits, "agentd: the run waits for a person: agentd inbox %s\n", loop.DecisionRef(runID, d.Decision.ID)); err != nil {
			return err
		}
	}
	f.held = append(f.held, e)
	if f.people.asking() {
		return nil
	}
	return f.release()
}

// below reads what sub-runs wait for after an event that changes it. The follower watches only the
// run itself, so it does not receive the events of sub-runs.
func (f *follower) below(ctx context.Context, runID string, e client.RunEvent) error {
	if _, changed := e.Payload.(*client.SubRunWaiting); !changed || f.people.console == nil {
		return nil
	}
	r, err := f.agent.GetRun(ctx, runID)
	if err != nil {
		return err
	}
	f.people.expectBelow(r.Pending)
	return nil
}

// release shows the kept events.
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

// ask shows the next question, after all events.
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

// answer sends the answer that a person typed.
func (f *follower) answer(ctx context.Context, runID string, line terminal.Typed) error {
	edits := f.people.console.Edits()
	switch {
	case errors.Is(line.Err, terminal.ErrInterrupted):
		if back, err := f.people.back(); back || err != nil {
			return err
		}
		return terminal.Interrupt() // the question stays until the run is canceled
	case line.Err != nil && edits && !errors.Is(line.Err, io.EOF):
		return line.Err
	case line.Err != nil && edits:
		return errLeft
	case line.Err != nil:
		return errors.Join(errLeft, f.people.console.Say("\n"))
	}
	return f.decide(ctx, runID, func() (client.Decision, error) { return f.people.hear(line.Text) })
}

// decide sends the decision that hear returns, if it returns one.
func (f *follower) decide(ctx context.Context, runID string, hear func() (client.Decision, error)) error {
	made, err := hear()
	if err != nil {
		if errors.Is(err, errNoAnswer) {
			return nil
		}
		return err
	}
	f.people.hand(made.ID)
	f.people.show.inLine = !f.people.console.Echoes()
	if err := f.release(); err != nil {
		return err
	}
	if _, err := f.agent.Respond(ctx, runID, f.people.by, made); err != nil {
		f.log.Warn("the decision came too late", "decision", made.ID, "err", err)
		f.people.settle(made.ID)
		// the event is in the journal of the sub-run, which this follower does not watch
	} else if f.people.isBelow(made.ID) {
		f.people.settle(made.ID)
	}
	return nil
}

func (f *follower) cancel(ctx context.Context, runID string) {
	if err := f.agent.CancelRun(ctx, runID, "interrupted"); err != nil {
		f.log.Error("cancelling the run", "error", err)
	}
}
