package ledger

import (
	"context"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/tool"
)

// Check refuses a call that may have been executed without a trace in this ledger: under another
// ledger, or so long ago that this ledger has forgotten it. Executing it again could double its
// effects. A call that has ended under this ledger passes, and its caller gets the outcome.
func (l *Ledger[C]) Check(ctx context.Context, call *tool.Call) *tool.Error {
	store := l.cfg.Store
	switch {
	case call.Ledger != "" && !l.is(call.Ledger):
		if l.ended(ctx, call) {
			return nil
		}
		if r := l.restored(); r != nil && call.Ledger == r.From {
			return unknown(call.ID,
				"the ledger of this toolhost was restored from the backup of %s and does not have the call, which may have been executed after the backup: "+
					"nothing was executed now; find out what happened and make a new call under the ledger %q", r.Backup.Format(time.RFC3339), l.ID())
		}
		return unknown(call.ID,
			"the call may have been executed under the ledger %.40q, and this toolhost has the ledger %q: nothing was executed now; "+
				"send the call to the toolhost that it was first sent to, or find out what happened and make a new call", call.Ledger, l.ID())
	case call.FirstSent.IsZero() || call.ID == "" || store == nil || !store.Forgets(call.FirstSent):
		return nil
	}
	switch _, found, err := store.Find(ctx, keyOf(call)); {
	case err != nil:
		return unrecorded("whether the call id was used before cannot be seen", err)
	case found:
		return nil
	default:
		return unknown(call.ID,
			"the call was first sent at %s, and the ledger forgets calls of that age: nothing was executed now; find out what happened and make a new call",
			call.FirstSent.UTC().Format(time.RFC3339))
	}
}

// CheckRestored refuses a call with side effects if this ledger was restored from a backup, does
// not know the call id, and the caller does not say that the call is new. See
// callstore.Restoration. Check must have passed the call.
func (l *Ledger[C]) CheckRestored(call *tool.Call) *tool.Error {
	r := l.restored()
	switch {
	case r == nil || call.ID == "" || call.Ledger == l.ID() || !l.cfg.Store.Now().Before(r.Ends):
		return nil
	case !call.FirstSent.IsZero() && !call.FirstSent.Before(r.Restored):
		return nil
	case l.cfg.Store.Known(keyOf(call)):
		return nil
	}
	return unknown(call.ID,
		"the ledger of this toolhost was restored from the backup of %s and does not have the call, which may have been executed after the backup: "+
			"nothing was executed now; if the call is new, send it with the ledger id %q; until %s, this toolhost executes no other call with side effects and an id",
		r.Backup.Format(time.RFC3339), l.ID(), r.Ends.Format(time.RFC3339))
}

func (l *Ledger[C]) restored() *callstore.Restoration {
	if l.cfg.Store == nil {
		return nil
	}
	return l.cfg.Store.Restored()
}

// ended reports whether the store has the end of a call. A call that has only begun does not count:
// it could be forgotten before the caller joins it.
func (l *Ledger[C]) ended(ctx context.Context, call *tool.Call) bool {
	key := keyOf(call)
	if l.cfg.Store == nil || !l.cfg.Store.Known(key) {
		return false
	}
	entry, found, err := l.cfg.Store.Find(ctx, key)
	// Another ledger may have executed a free call since it was first sent there.
	return err == nil && found && entry.State != callstore.StateBegun && entry.State != callstore.StateFree
}

func keyOf(call *tool.Call) Key {
	return Key{Principal: call.Principal, Session: call.Session, ID: call.ID}
}

func unknown(callID, format string, args ...any) *tool.Error {
	err := tool.Errorf(tool.KindOutcomeUnknown, format, args...)
	err.CallID = callID
	return err
}
