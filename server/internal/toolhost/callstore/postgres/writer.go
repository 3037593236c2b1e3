package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
)

const (
	// beatEvery is how often the writer says that this node lives.
	beatEvery = time.Second
	// countEvery is how often the writer counts what other nodes have begun.
	countEvery = time.Minute
	patience   = 5 * time.Second // see Config.Patience
	// retryPause is the pause between two attempts while the database is gone.
	retryPause = 100 * time.Millisecond
	// sessionTime bounds a statement of the writer, and the network below it.
	sessionTime = 13 * time.Second
)

// writer is the one goroutine that writes calls. No other goroutine uses its fields.
//
// All of its writes go through one session, in order. A group with a Begin or a Settle is committed
// synchronously, and so is a beat. Groups that only end or forget calls are not, so a crash of the
// database may lose them. A later synchronous commit of the same session makes them durable, too.
// Until then, the writer keeps them, and writes them again if the session breaks. Each operation
// has a token, which its row keeps, so to write it again changes nothing.
type writer struct {
	store    *Store
	conn     *pgx.Conn // nil: none
	owed     []*op     // ends and forgets that must still be written
	unsynced []*op     // those that this session has written, and that a crash of the database may lose
	owned    callstore.Holdings

	outcomes, argumentBytes int64           // no more bytes than these are stored, as far as this node knows
	countDue                time.Time       // of count
	callsDue, outcomesDue   time.Time       // when the oldest call and the oldest outcome are due; zero: not known
	audited                 string          // the end of the audit log that this node has written
	described               *string         // the summary that this session has written; nil: none
	censusDue               time.Time       // of takeCensus
	pruneDue                time.Time       // of prune
	counts                  map[int64]int64 // the beats of the nodes at the last census; nil: there was none in this session
	failing                 bool            // the last attempt to write failed
	known                   map[int64]int64 // the number of the newest call of each node that has begun one, as far as this node knows
	// begun has the calls that this node has begun and not ended. Their ids may have been freed and
	// begun again since, so what this node knows of them counts only for these.
	begun map[callstore.Hash]begun
}

// begun tells a call from others that have had its key.
type begun struct {
	number int64
	token  []byte // changes if another call supersedes it
}

// loop writes the operations that wait in groups, until the store closes.
func (w *writer) loop() {
	defer close(w.store.stopped)
	defer w.disconnect()
	ticker := time.NewTicker(beatEvery)
	defer ticker.Stop()
	for {
		group, last := w.store.queue.take()
		if len(group) > 0 {
			w.work(group)
		}
		if last {
			if w.settleDebts(time.Now()) == nil && w.conn != nil {
				w.leave()
			}
			return
		}
		if len(group) > 0 {
			if now := time.Now(); now.After(w.countDue) || now.After(w.censusDue) { // the ticker is not asked while there is work
				w.beat()
			}
			continue
		}
		select {
		case <-w.store.queue.wake:
		case <-ticker.C:
			w.beat()
		}
	}
}

// beat says that the node lives, and does what is due.
func (w *writer) beat() {
	ctx, cancel := context.WithTimeout(context.Background(), sessionTime)
	defer cancel()
	err := w.settleDebts(time.Now())
	if err == nil {
		_, err = w.write(ctx, nil)
	}
	if err == nil && time.Now().After(w.countDue) {
		err = w.broken(errors.Join(w.readClock(ctx), w.count(ctx)))
	}
	if err == nil && time.Now().After(w.censusDue) {
		err = w.broken(errors.Join(w.takeCensus(ctx), w.noteAudit(ctx)))
	}
	if err == nil {
		err = w.broken(w.describe(ctx))
	}
	if err == nil {
		err = w.prune(ctx)
	}
	if err == nil {
		err = w.evict(ctx)
	}
	w.note(err)
}

// work writes a group and answers it, after what is due and what is owed. While the database is
// gone, it tries again for some seconds.
func (w *writer) work(group []*op) {
	deadline := time.Now().Add(w.store.cfg.Patience)
	for {
		err := w.settleDebts(deadline)
		if err == nil {
			ctx, cancel := context.WithTimeout(context.Background(), sessionTime)
			err = w.evict(ctx)
			if err == nil {
				_, err = w.write(ctx, group)
			}
			cancel()
		}
		w.note(err)
		switch {
		case err == nil:
			w.deliver(group)
			return
		case isGone(err) && time.Now().Before(deadline):
			time.Sleep(retryPause) // the goroutine has nothing else to do
			continue
		case !isGone(err) && len(group) > 1: // one of them cannot be written
			for _, o := range group {
				w.work([]*op{o})
			}
			return
		case !isGone(err) && group[0].verb == verbEnd && len(group[0].ending.Data) > 0:
			w.store.log.Warn("a result could not be written to the ledger; trying to write how the call ended", "call", group[0].key.ID, "error", err)
			group[0].ending.Data = nil
			continue
		}
		for _, o := range group {
			w.fail(o, err)
		}
		return
	}
}

// isGone reports whether the same action may succeed later.
func isGone(err error) bool {
	return errors.Is(err, postgres.ErrUnavailable) || errors.Is(err, postgres.ErrTimeout) || errors.Is(err, postgres.ErrConflict)
}

// deliver answers what was written. It undoes a Begin whose caller has left, before anything else,
// and one that is refused because this node is gone: an earlier attempt, whose answer was lost, may
// have written it before.
func (w *writer) deliver(group []*op) {
	for _, o := range group {
		late := o.refused != nil && w.store.Why() != nil
		left := !o.answer(w.store.failed(o, o.refused)) && (o.refused == nil || errors.Is(o.refused, errLeft))
		if o.verb == verbBegin && (left || late) {
			w.undo(o)
		}
	}
}

// fail answers an operation that could not be written. It keeps ends and forgets, because the
// ledger is correct only with them. A Begin may be in the database nevertheless.
func (w *writer) fail(o *op, err error) {
	switch o.verb {
	case verbBegin:
		w.undo(o)
	case verbEnd, verbForget:
		w.owed = append(w.owed, o)
	}
	o.answer(w.store.failed(o, err))
}

// undo frees the id of a Begin whose call is not executed. It does so also if no attempt has
// succeeded, because one whose answer was lost may have written the row.
func (w *writer) undo(begin *op) {
	if !begin.sent {
		return
	}
	o := newOp(verbForget, begin.key)
	o.begin = begin.token
	o.over.Store(true)
	w.owed = append(w.owed, o)
}

// settleDebts connects, and writes what is owed.
func (w *writer) settleDebts(deadline time.Time) error {
	ctx, cancel := context.WithTimeout(context.Background(), max(time.Until(deadline), 0)+sessionTime)
	defer cancel()
	if w.conn != nil && w.conn.IsClosed() {
		w.disconnect()
	}
	if w.conn == nil {
		if err := w.connect(ctx); err != nil {
			return err
		}
	}
	for most := maxGroup; len(w.owed) > 0; {
		n := groupOf(w.owed[:min(len(w.owed), most)])
		_, err := w.write(ctx, w.owed[:n:n])
		switch first := w.owed[0]; {
		case err == nil:
			most = maxGroup
		case isGone(err):
			return err
		case n > 1: // one of them cannot be written
			most = 1
			continue
		case len(first.ending.Data) > 0:
			first.ending.Data = nil
			continue
		default:
			w.store.log.Error("an operation cannot be written to the ledger; the call may become outcome_unknown", "doing", first.verb, "call", first.key.ID, "error", err)
		}
		if w.owed = w.owed[n:]; len(w.owed) == 0 {
			w.owed = nil
		}
	}
	return nil
}

// note logs when the ledger cannot be written, and when it can again.
func (w *writer) note(err error) {
	if failing := err != nil; failing != w.failing {
		w.failing = failing
		if failing {
			w.store.log.Error("the ledger cannot be written; calls with side effects are refused until it can", "database", w.store.db.Name(), "error", err)
		} else {
			w.store.log.Info("the ledger can be written again", "database", w.store.db.Name())
		}
	}
}

// write writes a group in one transaction. It sets op.refused of those that the ledger refuses.
// After an error, nothing or all was written.
func (w *writer) write(ctx context.Context, group []*op) (synced bool, err error) {
	if took := w.store.cfg.Took; took != nil {
		defer func(begun time.Time) { took(kindOf(group), time.Since(begun)) }(time.Now())
	}
	by := map[verb][]*op{}
	for _, o := range group {
		o.refused = nil
		by[o.verb] = append(by[o.verb], o)
	}
	begins, err := w.admit(ctx, by[verbBegin])
	if err != nil {
		return false, w.broken(err)
	}
	if len(begins) > 0 && len(begins[0].closes) > 0 { // it is alone, see groupOf
		return w.supersede(ctx, begins[0])
	}
	return w.send(ctx, by, begins)
}

// send writes what a group has in one batch, and what follows from it in memory. by has its
// operations, and begins those of its Begins for which there is room.
func (w *writer) send(ctx context.Context, by map[verb][]*op, begins []*op) (synced bool, err error) {
	batch := &pgx.Batch{}
	// A settlement is rare, because it waits for a person or a check, so it can wait for the disk. A
	// beat does, because its commit also makes earlier ends durable.
	synced = len(by) == 0 || len(begins)+len(by[verbSettle]) > 0
	if !synced {
		batch.Queue("SELECT set_config('synchronous_commit', 'off', true)")
	}
	var after []func()
	w.queueEnds(batch, by[verbEnd], &after)
	w.queueForgets(batch, by[verbForget], &after)
	for _, o := range by[verbSettle] {
		w.queueSettle(batch, o)
	}
	if len(by) == 0 {
		w.queueKnown(batch, &after)
	}
	w.queueBegins(batch, begins, &after)
	if err := w.conn.SendBatch(ctx, batch).Close(); err != nil {
		return false, w.broken(err)
	}
	if err := postgres.Confirmed(w.conn); err != nil {
		return false, w.broken(err)
	}
	if synced {
		w.unsynced = nil
	}
	for _, f := range after {
		f()
	}
	if len(by) == 0 || len(begins) > 0 {
		w.store.beaten.Store(new(time.Now()))
	}
	return synced, nil
}

// broken returns the meaning of an error, and ends the session if the session may be broken.
func (w *writer) broken(err error) error {
	if err == nil {
		return nil
	}
	err = postgres.Error(err)
	if w.conn.IsClosed() || errors.Is(err, postgres.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
		w.disconnect()
	}
	return err
}

// check returns why this node must begin no more, if the ledger does not have its id any more, or
// the node is gone.
func (w *writer) check(named, alive bool) error {
	switch {
	case !named:
		w.end(ErrLost) // see renew
		return ErrLost
	case !alive:
		w.end(ErrGone)
		return ErrGone
	}
	return nil
}

// end makes this node begin no more.
func (w *writer) end(why error) {
	if w.store.why.CompareAndSwap(nil, &why) {
		w.store.log.Error("this toolhost begins no more calls with side effects, and stops", "error", why)
		close(w.store.gone)
	}
}

// own changes the number of ids of a principal.
func (w *writer) own(principal string, ids int) {
	w.owned.Add(principal, ids)
	w.store.ids.Add(int64(ids))
}
