package prove

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/toolhost/toolhost/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// stuckAfter bounds a run with its kill. A run takes less than a second, and the start of a server on a
// busy machine a few.
const stuckAfter = 90 * time.Second

// errStuck says that a run or a server did not go on in time.
var errStuck = fmt.Errorf("nothing went on for %v", stuckAfter)

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
	if err := t.one(ctx, 0, nil); err != nil {
		return err
	}
	t.usual = time.Since(began)
	for i := range kills {
		if t.tally.Stuck > 0 {
			break
		}
		if err := t.one(ctx, i+1, &kills[i]); err != nil {
			return err
		}
	}
	return nil
}

// one makes the calls of one run, and counts what became of them. Without a kill, the run is only measured.
func (t *trial) one(ctx context.Context, number int, k *kill) error {
	at := anywhere
	if k != nil {
		at = k.at
	}
	r := newRun(fmt.Sprintf("%s-%d", t.tool, number), t.tool, at)
	bounded, cancel := context.WithTimeoutCause(ctx, stuckAfter, errStuck)
	defer cancel()
	done := make(chan struct{})
	go func() { // ends with the run, or with bounded; waited for below
		defer close(done)
		if t.lab.agents != nil {
			r.byAgent(bounded, t.lab.agents)
		} else {
			r.directly(bounded, t.lab.tools)
		}
	}()
	var err error
	if k != nil {
		err = t.strike(bounded, r, k)
	}
	if err != nil {
		cancel()
	}
	<-done
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && !errors.Is(err, errStuck) {
		return err
	}
	return t.count(ctx, r, k != nil)
}

// strike kills the victims when the run is at the place, and starts them again.
func (t *trial) strike(ctx context.Context, r *run, k *kill) error {
	if k.at == anywhere {
		cli.Wait(ctx, time.Duration(k.when*float64(t.usual)))
	} else if err := await(ctx, t.lab.work(halted, r.session)); err != nil {
		return err
	}
	for !t.lab.kill(ctx, k.victim) { // at a random moment, the plugin may not run yet
		if !cli.Wait(ctx, poll) {
			return context.Cause(ctx)
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
