package host

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestDeadlinesEndEachAtItsMoment: whichever was set first, put off or taken out.
func TestDeadlinesEndEachAtItsMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, began := &deadlines{}, time.Now()
		at := func(s int) time.Time { return began.Add(time.Duration(s) * time.Second) }
		runs := map[int]*run{}
		for _, s := range []int{30, 10, 20, 40, 5, 25} {
			runs[s] = &run{}
			d.set(runs[s], at(s))
		}
		d.remove(runs[20])
		d.remove(runs[20])
		d.set(runs[40], at(7))
		if !d.postpone(runs[10], at(33)) || d.postpone(runs[20], at(50)) {
			t.Error("not just what was set can be put off")
		}
		for _, want := range []struct{ run, at int }{{5, 5}, {40, 7}, {25, 25}, {30, 30}, {10, 33}} {
			<-runs[want.run].ctx.Done()
			if !time.Now().Equal(at(want.at)) || !errors.Is(runs[want.run].ctx.Err(), errDeadline) {
				t.Errorf("the run of %d s ended after %v with %v, want %d s", want.run, time.Since(began), runs[want.run].ctx.Err(), want.at)
			}
		}
		if d.postpone(runs[5], at(60)) {
			t.Error("a run whose time was up has got more")
		}
		if runs[20].ctx.Err() != nil {
			t.Error("what was taken out has ended")
		}
	})
}

// TestDeadlinesClose ends what is under way and what comes after.
func TestDeadlinesClose(t *testing.T) {
	d, before, after := &deadlines{}, &run{}, &run{}
	d.set(before, time.Now().Add(time.Hour))
	d.close(errStopping)
	d.set(after, time.Now().Add(time.Hour))
	for _, r := range []*run{before, after} {
		if !errors.Is(r.ctx.Err(), errStopping) {
			t.Errorf("it ended with %v", r.ctx.Err())
		}
	}
	d.remove(before)
}
