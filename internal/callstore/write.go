package callstore

import (
	"context"
	"errors"
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

// transact writes the operations in one transaction, all or nothing. It is synced if one of them is a Begin.
func (w *writer) transact(ctx context.Context, ops []*op) error {
	sync := false
	for _, o := range ops {
		sync = sync || o.verb == verbBegin
	}
	return w.inTransaction(ctx, sync, func(c *change) error {
		for _, o := range ops {
			if err := w.apply(ctx, c, o); err != nil {
				return err
			}
		}
		return nil
	})
}

// change is what a transaction will have changed if it is committed.
type change struct {
	totals
	numbers map[hash]int64 // 0: removed
	begun   map[hash]*op   // in this transaction
	growth  int            // of the number of calls
}

// inTransaction does something, commits it and adopts the change; or, if anything fails, leaves all as it was.
func (w *writer) inTransaction(ctx context.Context, sync bool, do func(*change) error) error {
	if err := w.setSynced(ctx, sync); err != nil {
		return err
	}
	c := &change{totals: w.totals, numbers: map[hash]int64{}, begun: map[hash]*op{}}
	_, err := w.begin.ExecContext(ctx)
	if err == nil {
		err = do(c)
	}
	if err == nil {
		_, err = w.commitIt.ExecContext(ctx)
	}
	if err != nil {
		// SQLite may have rolled back by itself; then this fails and does not matter.
		_, _ = w.rollback.ExecContext(ctx)
		return err
	}
	w.totals = c.totals
	w.store.index.apply(c.numbers)
	return nil
}

func (w *writer) setSynced(ctx context.Context, on bool) error {
	if on == w.synced {
		return nil
	}
	mode := "NORMAL"
	if on {
		mode = "FULL"
	}
	// Not prepared: SQLite carries out this pragma when it compiles it.
	if _, err := w.conn.ExecContext(ctx, "PRAGMA synchronous = "+mode); err != nil {
		return err
	}
	w.synced = on
	return nil
}

// apply does one operation. An error is the database's; what the operation itself is refused for is in o.refused.
func (w *writer) apply(ctx context.Context, c *change, o *op) error {
	o.refused = nil
	number, there := w.find(c, o.hash)
	there = there && (o.only == 0 || o.only == number)
	switch o.verb {
	case verbBegin:
		return w.applyBegin(ctx, c, o, number, there)
	case verbForget:
		if !there {
			return nil
		}
		done, err := affected(w.forget.ExecContext(ctx, number))
		if err == nil && done {
			c.numbers[o.hash] = 0
			c.growth--
		} else if err == nil {
			o.refused = ErrNotBegun
		}
		return err
	default:
		if !there {
			o.refused = ErrNotBegun
			return nil
		}
		return w.applyEnd(ctx, c, o, number)
	}
}

func (w *writer) find(c *change, key hash) (number int64, ok bool) {
	if number, changed := c.numbers[key]; changed {
		return number, number != 0
	}
	return w.store.index.find(key)
}

func (w *writer) applyBegin(ctx context.Context, c *change, o *op, number int64, there bool) error {
	if o.left() {
		o.refused = errors.New("its caller has left")
		return nil
	}
	if holder := c.begun[o.hash]; there && holder != nil && holder.left() {
		// The caller of this one may well know that the other was given up.
		if _, err := w.forget.ExecContext(ctx, number); err != nil {
			return err
		}
		holder.refused = errors.New("its caller has left")
		c.growth--
		there = false
	}
	if there {
		o.refused = ErrTaken
		return nil
	}
	if ids := w.store.index.len() + c.growth; ids >= w.store.cfg.MaxIDs {
		room, err := w.room(ctx)
		o.refused = &FullError{IDs: ids, Room: room}
		return err
	}
	c.number++
	e := &o.entry
	if _, err := w.insert.ExecContext(ctx, c.number, o.hash[:], e.Principal, e.Session, e.ID, e.Sum[:], e.Tool, e.Plugin, e.Begun.UnixNano()); err != nil {
		return err
	}
	c.numbers[o.hash], c.begun[o.hash] = c.number, o
	c.growth++
	return nil
}

func (w *writer) applyEnd(ctx context.Context, c *change, o *op, number int64) error {
	data := o.ending.data
	if data != nil && c.bytes+int64(len(data)) > w.store.cfg.MaxBytes {
		data = nil // eviction is behind
	}
	var place any
	if data != nil {
		c.place++
		place = c.place
	}
	end := &o.ending
	done, err := affected(w.end.ExecContext(ctx, end.stands, o.ended.UnixNano(), place, end.plugin, end.plugin, end.instance, end.short, number))
	if err != nil {
		return err
	}
	if !done {
		o.refused = ErrNotBegun
		return nil
	}
	if data == nil {
		return nil
	}
	c.bytes += int64(len(data))
	_, err = w.keep.ExecContext(ctx, c.place, number, o.ended.UnixNano(), len(data), data)
	return err
}
