package callstore

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// maxBegins bounds the Begins that wait for the writer; more than that wait for one another. Ends are bounded by the calls
// that began.
const maxBegins = 1024

type verb string

const (
	verbBegin  verb = "beginning"
	verbEnd    verb = "ending"
	verbForget verb = "forgetting"
)

// op is something to be written. Its caller waits for it, and may leave.
type op struct {
	verb   verb
	key    Key
	hash   hash
	entry  Entry     // of verbBegin
	ending ending    // of verbEnd
	ended  time.Time // of verbEnd
	only   int64     // the number of the call that it is about; 0: of whatever call has the key

	settled atomic.Bool // set by whoever is first: the writer that answers, or the caller that leaves
	done    chan error  // of capacity 1
	refused error       // what the transaction says to this one, if it comes to be; the writer's
}

func newOp(v verb, key Key) *op {
	return &op{verb: v, key: key, hash: key.hash(), done: make(chan error, 1)}
}

// answer reports whether the caller is still there to hear it.
func (o *op) answer(err error) bool {
	if !o.settled.CompareAndSwap(false, true) {
		return false
	}
	if err != nil {
		err = fmt.Errorf("%s call %s on disk: %w", o.verb, o.key.ID, err)
	}
	o.done <- err
	return true
}

// left reports, before the operation is answered, whether its caller has gone.
func (o *op) left() bool { return o.settled.Load() }

// Begin records that a call is about to be given to a plugin. When it returns nil, the record is synced to the disk.
//
// It fails with ErrTaken if the id is there, with a *FullError if there are too many, and with what the system says if
// the file cannot be written; then nothing is recorded. Where ctx ends first, it returns ctx's cause, and the id is free
// or is freed at once: the caller has nothing to undo, and a Begin after it does not collide with it.
func (s *Store) Begin(ctx context.Context, e Entry) error {
	o := newOp(verbBegin, e.Key)
	o.entry = e
	if e.Begun.IsZero() {
		o.entry.Begun = s.cfg.Now()
	}
	select {
	case s.begins <- struct{}{}: // the writer takes it out
	case <-s.closing:
		return fmt.Errorf("beginning call %s on disk: %w", e.ID, ErrClosed)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return s.do(ctx, o)
}

// End records how a call ended. When it returns nil, the record survives the end of this process, but perhaps not the
// machine's. A result that is too large is not kept, only how the call ended.
//
// It fails with ErrNotBegun unless the call is under way. If the file cannot be written it fails too, and how the call
// ended is written as soon as that works again; if it never does, the call is StateUnknown for the next Open. Where ctx
// ends first, the record is written all the same.
func (s *Store) End(ctx context.Context, key Key, out tool.Outcome) error {
	o := newOp(verbEnd, key)
	var err error
	if o.ending, err = encodeOutcome(&out, s.cfg.MaxResult); err != nil {
		return fmt.Errorf("ending call %s on disk: %w", key.ID, err)
	}
	o.ended = s.cfg.Now()
	return s.do(ctx, o)
}

// Forget takes out a call that began and never reached a plugin, so that its id can be used again. A call that is not
// there is nothing to forget; one that has ended stays, and Forget fails with ErrNotBegun. Like an End it survives the
// end of this process, is tried again after a failure, and happens also where ctx ends first.
func (s *Store) Forget(ctx context.Context, key Key) error {
	return s.do(ctx, newOp(verbForget, key))
}

// do hands the operation to the writer and waits until it is written.
func (s *Store) do(ctx context.Context, o *op) error {
	if !s.queue.push(o) {
		return fmt.Errorf("%s call %s on disk: %w", o.verb, o.key.ID, ErrClosed)
	}
	select {
	case err := <-o.done: // the writer answers all that it was handed
		return err
	case <-ctx.Done():
		if o.settled.CompareAndSwap(false, true) {
			return context.Cause(ctx)
		}
		return <-o.done
	}
}
