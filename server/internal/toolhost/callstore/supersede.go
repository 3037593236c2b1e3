package callstore

import (
	"context"
)

// mayClose returns ErrSuperseding if a call that a Begin supersedes has an outcome or is under way,
// and otherwise how many of the calls are not in the file.
func (w *writer) mayClose(ctx context.Context, c *change, o *op) (absent int, refused, err error) {
	for _, key := range o.entry.Superseded() {
		number, there := w.find(c, key.Hash())
		if !there {
			absent++
			continue
		}
		var stands Standing
		if err := w.standing.QueryRowContext(ctx, number).Scan(&stands); err != nil {
			return 0, nil, err
		}
		if stands == StandsBegun || stands == StandsSucceeded || stands == StandsToolError {
			return 0, ErrSuperseding, nil
		}
	}
	return absent, nil, nil
}

// closeSuperseded closes the calls that a Begin supersedes: without arguments, no tool settles
// them. One that is not in the file gets an end, so that it never begins.
func (w *writer) closeSuperseded(ctx context.Context, c *change, o *op) error {
	e := &o.entry
	for _, key := range e.Superseded() {
		hash, end := key.Hash(), Closing(e.ID)
		if number, there := w.find(c, hash); there {
			if _, err := w.close.ExecContext(ctx, end.Short, number); err != nil {
				return err
			}
			w.keepArguments(c, number, 0)
			continue
		}
		c.number++
		at := e.Begun.UnixNano()
		if _, err := w.closed.ExecContext(ctx, c.number, hash[:], e.Principal, e.Session, key.ID, e.Sum[:], e.Tool, e.Plugin, at, at, end.Short); err != nil {
			return err
		}
		c.numbers[hash] = c.number
		c.owned.Add(e.Principal, 1)
		c.growth++
	}
	return nil
}
