package prove

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// stuckAfter bounds a run with its kill. A run takes less than a second, and the start of a server
// on a busy machine a few.
const stuckAfter = 90 * time.Second

// mostTries bounds how often a run is made whose calls end before its kill.
const mostTries = 20

var (
	// errStuck says that a run or a server did not go on in time.
	errStuck = fmt.Errorf("nothing went on for %v", stuckAfter)
	// errOver says that the calls of a run ended before its kill.
	errOver = errors.New("the calls ended before the kill")
)

// trial kills processes during the calls of one tool.
type trial struct {
	lab   *lab
	tool  countTool
	usual time.Duration // of a run without a kill
	tally tally
}

// run carries out the plan. It ends early if a run is stuck.
func (t *trial) run(ctx context.Context, kills []kill) error {
	began := time.Now()
	if err := t.one(ctx, fmt.Sprintf("%s-0", t.tool), nil); err != nil {
		return err
	}
	t.usual = time.Since(began)
	for i := range kills {
		if t.tally.Stuck > 0 {
			break
		}
		if err := t.until(ctx, i+1, &kills[i]); err != nil {
			return err
		}
	}
	return nil
}

// until makes a run until its kill hits it. A call that is sent in the moment after the kill of the
// run before can end as unknown without being executed, so that it halts nowhere. It does not
// repeat a run that broke a promise: the report shows it.
func (t *trial) until(ctx context.Context, number int, k *kill) error {
	name := fmt.Sprintf("%s-%d", t.tool, number)
	for try := 1; ; try++ {
		err := t.one(ctx, name, k)
		switch {
		case !errors.Is(err, errOver):
			return err
		case !t.tally.holds(false):
			return nil
		case try == mostTries:
			return fmt.Errorf("making kill %d: %w, in %d runs", number, err, try)
		}
		name = fmt.Sprintf("%s-%d-%d", t.tool, number, try)
	}
}

// one makes the calls of one run, and counts what became of them. Without a kill, the run is only
// measured. It returns errOver if the calls ended before the kill; they are counted, too.
func (t *trial) one(ctx context.Context, name string, k *kill) error {
	at := anywhere
	if k != nil {
		at = k.at
	}
	r := newRun(name, t.tool, at)
	bounded, cancel := context.WithTimeoutCause(ctx, stuckAfter, errStuck)
	defer cancel()
	running, over := context.WithCancelCause(bounded)
	done := make(chan struct{})
	go func() { // ends with the run, or with bounded; waited for below
		defer close(done)
		defer over(errOver)
		if t.lab.agents != nil {
			r.byAgent(bounded, t.lab.agents)
		} else {
			r.directly(bounded, t.lab.tools)
		}
	}()
	var err error
	if k != nil {
		err = t.strike(bounded, running, r, k)
	}
	if err != nil {
		cancel()
	}
	<-done
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && !errors.Is(err, errStuck) && !errors.Is(err, errOver) {
		return err
	}
	early := errors.Is(err, errOver)
	if err := t.count(ctx, r, k != nil); err != nil || !early {
		return err
	}
	return errOver
}

// strike kills the victims when the run is at the place, and starts them again. running ends with
// the calls of the run.
func (t *trial) strike(ctx, running context.Context, r *run, k *kill) error {
	if k.at == anywhere {
		cli.Wait(ctx, time.Duration(k.when*float64(t.usual)))
	} else if err := await(running, t.lab.work(halted, r.session)); err != nil {
		return err
	}
	for !t.lab.kill(ctx, k.victim) { // at a random moment, the plugin may not run yet
		if !cli.Wait(running, poll) {
			return context.Cause(running)
		}
	}
	t.tally.Kills++
	// What was not killed goes on.
	if err := os.WriteFile(t.lab.work(freed, r.session), nil, 0o600); err != nil {
		return err
	}
	return t.lab.start(ctx)
}

// count adds the calls of a run to the tally, once the run has ended.
func (t *trial) count(ctx context.Context, r *run, killed bool) error {
	receipts, err := t.lab.receipts(r.session)
	if err != nil {
		return err
	}
	page, err := t.lab.tools.Admin().Calls(ctx, tool.CallQuery{Session: r.session})
	if err != nil {
		return err
	}
	var runs tally
	for _, id := range callsOfRun {
		e := ended{receipts: receipts[r.session+"."+id]}
		if a, answered := r.answers[id]; answered {
			e.answer = &a
		}
		if i := slices.IndexFunc(page.Calls, func(c tool.CallRecord) bool { return c.CallID == r.session+"."+id }); i >= 0 {
			s := page.Calls[i].Settled
			e.settled = s != nil && (s.Verdict == tool.VerdictHappened || s.Verdict == tool.VerdictDidNotHappen)
		}
		runs.add(e)
	}
	if !killed {
		if runs != (tally{Calls: len(callsOfRun)}) {
			return fmt.Errorf("a run without a kill went wrong, and its first call ended with %+v", r.answers[callsOfRun[0]])
		}
		return nil
	}
	t.tally.plus(runs)
	return nil
}
