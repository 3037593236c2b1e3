package callstore

import (
	"context"
	"errors"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/tool"
)

// errLeft is why the writer skips a Begin. No caller gets it.
var errLeft = errors.New("its caller has left")

// transact writes the operations in one transaction, all or none. The transaction is synced if one
// of them is a Begin.
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

// change is what a transaction changes in memory once it is committed.
type change struct {
	totals
	numbers map[Hash]int64   // 0: removed
	begun   map[Hash]*op     // in this transaction
	growth  int              // the change of the number of calls
	deleted bool             // rows of calls were deleted, possibly the newest
	owned   Holdings         // the changes of the number of ids
	kept    map[string]int64 // the changes of the bytes of outcomes, by tenant

	arguments map[int64]int64 // the bytes of arguments of the calls for which they change; 0: removed
}

// keep changes the bytes of the outcomes of a tenant, and so of all outcomes.
func (c *change) keep(tenant string, bytes int64) {
	c.bytes += bytes
	c.kept[tenant] += bytes
}

// inTransaction runs a function in a transaction, commits it and adopts the change. If anything
// fails, it leaves everything unchanged.
func (w *writer) inTransaction(ctx context.Context, sync bool, do func(*change) error) error {
	if err := w.setSynced(ctx, sync); err != nil {
		return err
	}
	c := &change{totals: w.totals, numbers: map[Hash]int64{}, begun: map[Hash]*op{}, owned: NewHoldings(), kept: map[string]int64{}, arguments: map[int64]int64{}}
	_, err := w.begin.ExecContext(ctx)
	if err == nil {
		err = do(c)
	}
	if err == nil && c.deleted {
		_, err = w.setNewest.ExecContext(ctx, c.number)
	}
	if err == nil {
		w.store.index.announce(c.numbers)
		_, err = w.commitIt.ExecContext(ctx)
	}
	if err != nil {
		// SQLite may have rolled back already. Then this fails, which does not matter.
		_, _ = w.rollback.ExecContext(ctx)
		return err
	}
	if c.number > w.number && w.store.cfg.Begun != nil {
		w.store.cfg.Begun(c.number)
	}
	w.totals = c.totals
	w.owned.Adopt(c.owned)
	for tenant, bytes := range c.kept {
		w.kept.Add(tenant, bytes)
	}
	for number, bytes := range c.arguments {
		if bytes > 0 {
			w.arguments[number] = bytes
		} else {
			delete(w.arguments, number)
		}
	}
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
	// Not prepared: SQLite executes this pragma when it compiles it.
	if _, err := w.conn.ExecContext(ctx, "PRAGMA synchronous = "+mode); err != nil {
		return err
	}
	w.synced = on
	return nil
}

// apply executes one operation. It returns errors of the database. Why the operation itself is
// refused is in o.refused.
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
			w.keepArguments(c, number, 0)
			c.numbers[o.hash] = 0
			c.owned.Add(o.key.Principal, -1)
			c.growth--
			c.deleted = true
		} else if err == nil {
			o.refused = ErrNotBegun
		}
		return err
	case verbSettle:
		if !there {
			o.refused = ErrNotUnknown
			return nil
		}
		return w.applySettle(ctx, c, o, number)
	default:
		if !there {
			o.refused = ErrNotBegun
			return nil
		}
		return w.applyEnd(ctx, c, o, number)
	}
}

func (w *writer) find(c *change, key Hash) (number int64, ok bool) {
	if number, changed := c.numbers[key]; changed {
		return number, number != 0
	}
	return w.store.index.find(key)
}

func (w *writer) applyBegin(ctx context.Context, c *change, o *op, number int64, there bool) error {
	if o.left() {
		o.refused = errLeft
		return nil
	}
	if holder := c.begun[o.hash]; there && holder != nil && holder.left() {
		// The caller of this operation may know that the other caller has left.
		if _, err := w.forget.ExecContext(ctx, number); err != nil {
			return err
		}
		holder.refused = errLeft
		c.numbers[o.hash] = 0
		w.keepArguments(c, number, 0)
		c.owned.Add(o.key.Principal, -1)
		c.growth--
		c.deleted = true
		there = false
	}
	ids := 1                   // that the call adds
	var before tool.Settlement // what made the call free
	if there {
		free, said, err := w.isFree(ctx, o, number)
		if err != nil {
			return err
		}
		if !free {
			o.refused = ErrTaken
			return nil
		}
		before, ids = said, 0
	}
	absent, refused, err := w.mayClose(ctx, c, o)
	if ids += absent; refused == nil && err == nil && ids > 0 {
		refused, err = w.full(ctx, c, o, ids)
	}
	if refused != nil || err != nil {
		o.refused = refused
		return err
	}
	if there {
		if err := w.takeFree(ctx, c, o, number); err != nil {
			return err
		}
	}
	if err := w.closeSuperseded(ctx, c, o); err != nil {
		return err
	}
	return w.insertCall(ctx, c, o, before)
}

// full returns a *FullError if the store has no room for so many new ids.
func (w *writer) full(ctx context.Context, c *change, o *op, more int) (refused, err error) {
	ids, owner := w.store.index.len()+c.growth, ""
	if ids+more <= w.store.cfg.MaxIDs {
		if owner, ids = w.owned.Full(o.key.Principal, more, o.quota, c.owned); owner == "" {
			return nil, nil
		}
	}
	room, err := w.room(ctx)
	return &FullError{Owner: owner, IDs: ids, Room: room}, err
}

func (w *writer) insertCall(ctx context.Context, c *change, o *op, before tool.Settlement) error {
	c.number++
	e := &o.entry
	var arguments []byte
	if n := int64(len(e.Arguments)); n <= MaxArguments && c.argumentBytes+n <= w.store.cfg.ArgumentBytes() {
		arguments = e.Arguments
	}
	if _, err := w.insert.ExecContext(ctx, c.number, o.hash[:], e.Principal, e.Session, e.ID, e.Sum[:], e.Tool, e.Plugin, e.Begun.UnixNano(),
		arguments, VerdictNumber(before.Verdict), before.Reason, e.EffectKey); err != nil {
		return err
	}
	w.keepArguments(c, c.number, len(arguments))
	c.numbers[o.hash], c.begun[o.hash] = c.number, o
	c.owned.Add(o.key.Principal, 1)
	c.growth++
	return nil
}

func (w *writer) applyEnd(ctx context.Context, c *change, o *op, number int64) error {
	data := o.ending.Data
	if data != nil && c.bytes+int64(len(data)) > w.store.cfg.MaxBytes {
		data = nil // there is no room before the next eviction
	}
	var place any
	if data != nil {
		c.place++
		place = c.place
	}
	end := &o.ending
	done, err := affected(w.end.ExecContext(ctx, end.Stands, o.ended.UnixNano(), place, end.Plugin, end.Plugin, end.Instance, end.Short, end.Unknown, number))
	if err != nil {
		return err
	}
	if !done {
		o.refused = ErrNotBegun
		return nil
	}
	if !end.Unknown {
		w.keepArguments(c, number, 0)
	}
	if data == nil {
		return nil
	}
	c.keep(identity.TenantOf(o.key.Principal), int64(len(data)))
	_, err = w.keep.ExecContext(ctx, c.place, number, o.ended.UnixNano(), len(data), data)
	return err
}
