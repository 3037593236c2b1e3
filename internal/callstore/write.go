package callstore

import (
	"context"
	"time"
)

// tidyEvery is how often the writer looks for what is to be evicted or tried again if nobody gives it anything else to do.
const tidyEvery = time.Minute

// writer is the one goroutine that writes. Nothing of it is used by another.
type writer struct {
	store *Store
	statements
	totals

	synced   bool  // a commit is on the disk when it returns
	owed     []*op // that must still be written; each is about one row
	behind   bool  // there is something to evict, or owed, that may succeed now
	failing  bool  // the last transaction did
	callsDue time.Time
	dataDue  time.Time // when the oldest call, the oldest outcome is to be evicted; zero: not known
}

// totals are what the writer knows of the file.
type totals struct {
	number, place int64 // of the newest call and outcome
	bytes         int64 // of all outcomes
}

// loop writes what waits together, together, until the store closes.
func (w *writer) loop() {
	defer close(w.store.stopped)
	defer w.release()
	ticker := time.NewTicker(tidyEvery)
	defer ticker.Stop()
	for {
		group, last := w.store.queue.take()
		w.work(group)
		if last {
			w.work(nil) // a Begin of the last group may have to be undone
			return
		}
		if len(group) > 0 || w.behind {
			continue
		}
		select {
		case <-w.store.queue.wake:
		case <-ticker.C:
		}
	}
}

// work evicts what is too much and writes a group, after what is owed.
func (w *writer) work(group []*op) {
	// Not the context of any caller: the group is everybody's.
	ctx := context.Background()
	w.behind = false
	w.evict(ctx)
	w.payOwed(ctx)
	if len(group) > 0 {
		w.commit(ctx, group)
	}
	for _, o := range group {
		if o.verb == verbBegin {
			<-w.store.begins
		}
	}
}

// payOwed tries what is owed once more, all of it together.
func (w *writer) payOwed(ctx context.Context) {
	if len(w.owed) > 0 && w.transact(ctx, w.owed) == nil {
		w.noteSuccess()
		w.owed = nil
	}
}

// owe notes what is to be written later about the call that has the key now, and about no other after it.
func (w *writer) owe(o *op) {
	if number, ok := w.store.index.find(o.hash); ok {
		o.only = number
		w.owed = append(w.owed, o)
	}
}

// commit writes the operations and answers them: in one transaction or, if that fails, each on its own, so that one that
// cannot be written, or is too large for what room there is, does not concern the others.
func (w *writer) commit(ctx context.Context, ops []*op) {
	err := w.transact(ctx, ops)
	switch {
	case err == nil:
		w.noteSuccess()
		for _, o := range ops {
			w.deliver(o)
		}
	case len(ops) > 1:
		for _, o := range ops {
			w.commit(ctx, []*op{o})
		}
	case ops[0].verb == verbEnd && len(ops[0].ending.data) > 0:
		w.store.cfg.Logger.Warn("a result could not be written to the ledger; trying to write how the call ended", "call", ops[0].key.ID, "error", err)
		ops[0].ending.data = nil
		w.commit(ctx, ops)
	default:
		w.fail(ops[0], err)
	}
}

// deliver answers what has been written. A Begin whose caller has left is undone.
func (w *writer) deliver(o *op) {
	if !o.answer(o.refused) && o.verb == verbBegin && o.refused == nil {
		w.owe(newOp(verbForget, o.key))
		w.behind = true
	}
}

// fail answers what could not be written. Ends are owed: with them alone the file says what is true.
func (w *writer) fail(o *op, err error) {
	if !w.failing {
		w.failing = true
		w.store.cfg.Logger.Error("the ledger cannot be written; calls with side effects are refused until it can", "path", w.store.cfg.Path, "error", err)
	}
	if o.verb != verbBegin {
		w.owe(o)
	}
	o.answer(explain(w.store.cfg.Path, err))
}

func (w *writer) noteSuccess() {
	if w.failing {
		w.failing = false
		w.store.cfg.Logger.Info("the ledger can be written again", "path", w.store.cfg.Path)
	}
}
