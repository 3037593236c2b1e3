package callstore

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// maxBegins bounds the Begins that wait for the writer; further ones wait before they enter. The
// Ends are bounded by the calls that began.
const maxBegins = 1024

type verb string

const (
	verbBegin  verb = "beginning"
	verbEnd    verb = "ending"
	verbForget verb = "forgetting"
	verbSettle verb = "settling"
)

// op is one operation for the writer. Its caller waits for the result, and may stop waiting.
type op struct {
	verb   verb
	key    Key
	hash   Hash
	entry  Entry     // of verbBegin
	quota  Quota     // likewise
	ending Ending    // of verbEnd, and of verbSettle if the call happened
	ended  time.Time // of verbEnd and verbSettle
	only   int64     // the number of the call; 0: whichever call has the key

	settled tool.Settlement // of verbSettle

	// set by the writer when it answers, or by the caller when it leaves, whichever is first
	over    atomic.Bool
	done    chan error // of capacity 1
	refused error      // why the transaction refuses this operation; used by the writer only
}

func newOp(v verb, key Key) *op {
	return &op{verb: v, key: key, hash: key.Hash(), done: make(chan error, 1)}
}

// answer passes the result to the caller, and reports whether the caller was still waiting.
func (o *op) answer(err error) bool {
	if !o.over.CompareAndSwap(false, true) {
		return false
	}
	if err != nil {
		err = fmt.Errorf("%s call %s on disk: %w", o.verb, o.key.ID, err)
	}
	o.done <- err
	return true
}

// left reports whether the caller has left. It is for operations without an answer.
func (o *op) left() bool { return o.over.Load() }

// Begin records that a plugin is about to receive a call. When it returns nil, the disk has the
// record.
//
// Begin fails with ErrTaken if the id is taken, with a *FullError if there are too many ids, and
// with the system's error if the file cannot be written. It then records nothing. If ctx ends
// first, Begin returns the cause of ctx. The id is then free, or the store frees it at once. The
// caller has nothing to undo, and a later Begin does not collide with this one.
func (s *Store) Begin(ctx context.Context, e Entry) error { return s.BeginWithin(ctx, e, Quota{}) }

// BeginWithin is Begin for a principal with a quota. It also fails with a *FullError if the tenant
// or the principal has too many ids.
func (s *Store) BeginWithin(ctx context.Context, e Entry, q Quota) error {
	o := newOp(verbBegin, e.Key)
	o.entry, o.quota = e, q
	if e.Begun.IsZero() {
		o.entry.Begun = s.cfg.Now()
	}
	if ctx.Err() != nil { // the select might choose the token
		return context.Cause(ctx)
	}
	select {
	case s.begins <- struct{}{}: // the writer takes the token
	case <-s.closing:
		return fmt.Errorf("beginning call %s on disk: %w", e.ID, ErrClosed)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return s.do(ctx, o)
}

// End records how a call ended. When it returns nil, the record survives the end of this process,
// but possibly not a crash of the machine. If the result is too large, End stores only how the call
// ended.
//
// End fails with ErrNotBegun unless the call is in progress. If the file cannot be written, End
// fails too, and the store writes the end as soon as the file can be written again. If that never
// happens, the next Open makes the call StateUnknown. If ctx ends first, the store still writes the
// record.
func (s *Store) End(ctx context.Context, key Key, out tool.Outcome) error {
	o := newOp(verbEnd, key)
	var err error
	if o.ending, err = EncodeOutcome(&out, s.cfg.MaxResult); err != nil {
		return fmt.Errorf("ending call %s on disk: %w", key.ID, err)
	}
	o.ended = s.cfg.Now()
	return s.do(ctx, o)
}

// Forget removes a call that began and reached no plugin, so that its id can be used again. It does
// nothing if there is no such call, and fails with ErrNotBegun if the call has ended. The removal
// is as durable as the record of End. The store repeats it after a failure, and executes it also if
// ctx ends first.
func (s *Store) Forget(ctx context.Context, key Key) error {
	return s.do(ctx, newOp(verbForget, key))
}

// Settle records what the tool said about a call with an unknown outcome; see Writer.Settle. The
// record survives the end of this process, but possibly not a crash of the machine: the tool is
// then asked again. If the file cannot be written, Settle fails and records nothing.
func (s *Store) Settle(ctx context.Context, key Key, number int64, said tool.Settlement, out tool.Outcome) error {
	o := newOp(verbSettle, key)
	o.only, o.settled, o.ended = number, said, s.cfg.Now()
	if said.Verdict == tool.VerdictHappened {
		var err error
		if o.ending, err = EncodeOutcome(&out, s.cfg.MaxResult); err != nil {
			return fmt.Errorf("settling call %s on disk: %w", key.ID, err)
		}
	}
	return s.do(ctx, o)
}

// do passes the operation to the writer and waits until it is written.
func (s *Store) do(ctx context.Context, o *op) error {
	if !s.queue.push(o) {
		return fmt.Errorf("%s call %s on disk: %w", o.verb, o.key.ID, ErrClosed)
	}
	select {
	case err := <-o.done: // the writer answers every operation that it got
		return err
	case <-ctx.Done():
		if o.over.CompareAndSwap(false, true) {
			return context.Cause(ctx)
		}
		return <-o.done
	}
}
