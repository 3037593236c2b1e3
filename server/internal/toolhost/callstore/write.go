package callstore

import (
	"context"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/shares"
)

// tidyEvery is how often the writer evicts and retries if it gets no operation.
const tidyEvery = time.Minute

// writer is the one goroutine that writes. No other goroutine uses its fields.
type writer struct {
	store *Store
	statements
	totals
	owned  Holdings
	kept   shares.Shares    // the bytes of outcomes, by tenant; of those without a call, under ""
	passed map[string]int64 // by tenant: no outcome of the tenant has this place or a lower one

	arguments map[int64]int64 // the bytes of arguments in the file, by the number of the call

	synced   bool  // commits are synced to the disk
	owed     []*op // operations that must still be written; each is about one row
	behind   bool  // there may be something to evict or to retry
	failing  bool  // the last transaction failed
	callsDue time.Time
	dataDue  time.Time // when the oldest call and the oldest outcome are due; zero: not known
}

// totals contains the writer's counts of the file's content.
type totals struct {
	number, place int64 // of the newest call and the newest outcome
	bytes         int64 // of all outcomes
	argumentBytes int64 // of all arguments
}

// loop writes the operations that wait in groups, until the store closes.
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

// work evicts old calls, then writes the Ends that could not be written before, and then writes a
// group of operations.
func (w *writer) work(group []*op) {
	// The context is not that of a caller, because the group belongs to several callers.
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

// payOwed retries the owed operations, all together.
func (w *writer) payOwed(ctx context.Context) {
	if len(w.owed) > 0 && w.transact(ctx, w.owed) == nil {
		w.noteSuccess()
		w.owed = nil
	}
}

// owe records an operation for later, about the call that has the key now, and not about a later
// one with that key.
func (w *writer) owe(o *op) {
	if number, ok := w.store.index.find(o.hash); ok {
		o.only = number
		w.owed = append(w.owed, o)
	}
}

// commit writes the operations and answers them. It writes them in one transaction. If that fails,
// it writes each in its own transaction, so that an operation that cannot be written, or is too
// large for the free space, does not affect the others.
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
	case ops[0].verb == verbEnd && len(ops[0].ending.Data) > 0:
		w.store.cfg.Logger.Warn("a result could not be written to the ledger; trying to write how the call ended", "call", ops[0].key.ID, "session", ops[0].key.Session, "principal", ops[0].key.Principal, "error", err)
		ops[0].ending.Data = nil
		w.commit(ctx, ops)
	default:
		w.fail(ops[0], err)
	}
}

// deliver answers the written operations. It undoes a Begin whose caller has left.
func (w *writer) deliver(o *op) {
	if !o.answer(o.refused) && o.verb == verbBegin && o.refused == nil {
		w.owe(newOp(verbForget, o.key))
		w.behind = true
	}
}

// fail answers the operations that could not be written. It keeps Ends to write them later, because
// the file is correct only with them.
func (w *writer) fail(o *op, err error) {
	if !w.failing {
		w.failing = true
		w.store.cfg.Logger.Error("the ledger cannot be written; calls with side effects are refused until it can", "path", w.store.cfg.Path, "error", err)
	}
	if o.verb == verbEnd || o.verb == verbForget {
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
