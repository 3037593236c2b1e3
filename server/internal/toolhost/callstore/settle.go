package callstore

import (
	"bytes"
	"context"
	"database/sql"
	"errors"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/tool"
)

// keepArguments records how many bytes of arguments a call has.
func (w *writer) keepArguments(c *change, number int64, bytes int) {
	old, changed := c.arguments[number]
	if !changed {
		old = w.arguments[number]
	}
	if old == 0 && bytes == 0 {
		return
	}
	c.argumentBytes += int64(bytes) - old
	c.arguments[number] = int64(bytes)
}

// isFree reports whether a call is in StateFree and an operation begins the same call, and returns
// what the tool had said.
func (w *writer) isFree(ctx context.Context, o *op, number int64) (free bool, said tool.Settlement, err error) {
	var sum []byte
	var verdict int
	err = w.free.QueryRowContext(ctx, number).Scan(&sum, &verdict, &said.Reason)
	if errors.Is(err, sql.ErrNoRows) || err == nil && !bytes.Equal(sum, o.entry.Sum[:]) {
		return false, said, nil
	}
	said.Verdict = verdicts[verdict]
	return err == nil, said, err
}

// takeFree removes a call in StateFree that begins again. The call that begins gets a new number:
// the number of the newest call shows that a copy of the file is older, also if the copy has the
// call as free.
func (w *writer) takeFree(ctx context.Context, c *change, o *op, number int64) error {
	if _, err := w.dropFree.ExecContext(ctx, number); err != nil {
		return err
	}
	w.keepArguments(c, number, 0)
	c.owned.Add(o.key.Principal, -1)
	c.growth--
	c.deleted = true
	return nil
}

func (w *writer) applySettle(ctx context.Context, c *change, o *op, number int64) error {
	var place, size int64
	err := w.unsettled.QueryRowContext(ctx, number).Scan(&place, &size)
	if errors.Is(err, sql.ErrNoRows) {
		o.refused = ErrNotUnknown
		return nil
	}
	if err != nil {
		return err
	}
	verdict := VerdictNumber(o.settled.Verdict)
	if o.settled.Verdict != tool.VerdictHappened && o.settled.Verdict != tool.VerdictDidNotHappen {
		_, err := w.note.ExecContext(ctx, VerdictNumber(tool.VerdictUnknown), o.settled.Reason, number)
		return err
	}
	if place > 0 { // the error that said that the outcome is unknown
		if _, err := w.dropOutcome.ExecContext(ctx, place); err != nil {
			return err
		}
		c.keep(identity.TenantOf(o.key.Principal), -size)
	}
	if o.settled.Verdict == tool.VerdictDidNotHappen {
		_, err := w.setFree.ExecContext(ctx, verdict, o.settled.Reason, o.ended.UnixNano(), number)
		return err
	}
	return w.applyHappened(ctx, c, o, number, verdict)
}

func (w *writer) applyHappened(ctx context.Context, c *change, o *op, number int64, verdict int) error {
	end, data := &o.ending, o.ending.Data
	if data != nil && c.bytes+int64(len(data)) > w.store.cfg.MaxBytes {
		data = nil // as in applyEnd
	}
	var at any
	if data != nil {
		c.place++
		at = c.place
	}
	if _, err := w.happened.ExecContext(ctx, verdict, o.settled.Reason, end.Stands, o.ended.UnixNano(), at, end.Plugin, end.Plugin, end.Instance, end.Short, number); err != nil {
		return err
	}
	w.keepArguments(c, number, 0)
	if data == nil {
		return nil
	}
	c.keep(identity.TenantOf(o.key.Principal), int64(len(data)))
	_, err := w.keep.ExecContext(ctx, c.place, number, o.ended.UnixNano(), len(data), data)
	return err
}
