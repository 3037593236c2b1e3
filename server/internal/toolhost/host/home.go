package host

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/result"
	"github.com/toolhost/toolhost/tool"
)

const (
	// homeTime is how long what the ledger said about a session counts. A toolhost that lost a session
	// notices so late that another one has it.
	homeTime = 10 * time.Second
	// homeAsk bounds the question, as the begin of a call waits for the database of a shared ledger.
	homeAsk = 5 * time.Second
	// homeBack is how long the toolhost of a session must have shown no life before a person is asked:
	// it may come back, such as from an upgrade of its pod.
	homeBack = time.Minute
	// homeLook is how long what the ledger said counts if the home is another toolhost.
	homeLook = time.Second
	// mostHomes bounds the memory for sessions. Those that are forgotten are asked about again.
	mostHomes = 10_000
)

// Homes knows at which of several toolhosts a session has its workspace. It is safe for concurrent
// use.
type Homes interface {
	// Home returns where the workspace of a session is. A session without a home gets this
	// toolhost. If the home has the id from, this one becomes the home first; empty: nothing moves.
	Home(ctx context.Context, principal, session, from string) (callstore.Home, error)
}

// homes keeps sessions at the toolhost that has their files.
//
// The problem: a client sends the calls of a session to another toolhost if the first one is lost,
// and a workspace on the disk of the other one has none of the files. A model that reads an empty
// folder takes the work for undone. The idea: the first call of a session with access to a
// workspace makes its toolhost the home, and another toolhost executes no such call before a person
// has approved it, which moves the home. The invariant is that no approval moves a session unless
// the question that it answers said so. The question has the id of the home, and only an approval
// that repeats the id moves the session, and only from there. A move comes after the record of its
// approval.
type homes struct {
	ledger Homes

	mu    sync.Mutex
	known map[homeKey]home
}

type homeKey struct{ principal, session string }

// home is what is known about a session.
type home struct {
	callstore.Home
	read   time.Time // from the ledger
	silent time.Time // since when Life has not grown, as far as this toolhost has looked
}

// move is what an approval also does: it makes this toolhost the home of a session.
type move struct {
	key  homeKey
	from callstore.Home
}

func (k *home) old(now time.Time) bool {
	if k.Here {
		return now.Sub(k.read) >= homeTime
	}
	return now.Sub(k.read) >= homeLook
}

// newHomes returns nil if there is nothing to ask.
func newHomes(ledger Homes) *homes {
	if ledger == nil {
		return nil
	}
	return &homes{ledger: ledger, known: map[homeKey]home{}}
}

// of returns what is known about a session, and asks the ledger if that is old. What is known
// counts as long as the ledger does not answer. If the home has the id from, of moves the session
// here; empty: it does not.
func (h *homes) of(ctx context.Context, key homeKey, from string) (home, error) {
	h.mu.Lock()
	was, known := h.known[key]
	h.mu.Unlock()
	now := time.Now()
	if known && from == "" && !was.old(now) {
		return was, nil
	}
	ctx, cancel := context.WithTimeout(ctx, homeAsk)
	defer cancel()
	said, err := h.ledger.Home(ctx, key.principal, key.session, from)
	switch {
	case err == nil:
	case known && from == "":
		// Each question may take as long. The home cannot show that it lives meanwhile.
		was.read, was.silent = now, now
		h.mu.Lock()
		defer h.mu.Unlock()
		h.put(key, was)
		return was, nil
	default:
		return home{}, err
	}
	is := home{Home: said, read: now, silent: now}
	h.mu.Lock()
	defer h.mu.Unlock()
	// An answer that comes late may be older than the known one.
	if old, ok := h.known[key]; ok && said.ID == old.ID && said.Here == old.Here && said.Life <= old.Life {
		is.silent, is.Life = old.silent, old.Life
	}
	h.put(key, is)
	return is, nil
}

// put remembers a session. If there are too many, it forgets any other one.
func (h *homes) put(key homeKey, is home) {
	if _, known := h.known[key]; !known && len(h.known) >= mostHomes {
		for other := range h.known {
			delete(h.known, other)
			break
		}
	}
	h.known[key] = is
}

// keeps reports whether a call must be executed where the files of its session are.
func (a *authorizer) keeps(call *tool.Call, t *catalog.Tool) bool {
	return a.homes != nil && call.Session != "" && a.sandbox(t.Plugin.Info.Name).Workspace != tool.AccessNone
}

// atHome changes a decision about a call that may use a workspace, if the files of its session are
// at another toolhost. approved is the approval of the call for its final arguments; nil: it has
// none.
func (a *authorizer) atHome(ctx context.Context, made *decision, call *tool.Call, t *catalog.Tool, approved *tool.Approval) {
	if made.entry.Outcome == audit.Denied || !a.keeps(call, t) {
		return
	}
	key := homeKey{call.Principal, call.Session}
	is, err := a.homes.of(ctx, key, "")
	switch {
	case err == nil && is.Here, err != nil && !t.Spec.HasSideEffects():
	case err != nil:
		a.refuse(made, tool.Errorf(tool.KindUnavailable, "it cannot be seen which toolhost has the files of the session; nothing was executed: %w", err))
	case time.Since(is.silent) < homeBack:
		// Without a pause to wait, a client of several toolhosts tries the others, and thus the home.
		if made.refused == nil {
			a.refuse(made, away(call.Session, is.Home))
		}
	case made.refused == nil && approved != nil && approved.SessionMove != "" && approved.SessionMove == is.ID:
		made.move = &move{key, is.Home}
		made.entry.Outcome, made.entry.Approval = audit.Approved, approved
		made.entry.Reason = strings.TrimPrefix(made.entry.Reason+"; the session moves here from the toolhost "+result.Clip(is.At, 200), "; ")
	default:
		words := fmt.Sprintf("the files of the session %q are at the toolhost %s, which shows no life, and not here; "+
			"with an approval, the session goes on in the workspace of this toolhost, which may be empty", result.Clip(call.Session, 200), result.Clip(is.At, 200))
		if made.refused == nil {
			a.refuse(made, tool.Errorf(tool.KindApprovalRequired, "%s", words))
		} else {
			made.refused.Message += "; " + words
			made.entry.Reason = made.refused.Message // a held call shows it
		}
		made.refused.SessionMove = is.ID
	}
}

// moveHome makes a move that a person has approved, after its record. It returns why the call must
// not be executed, or nil.
func (a *authorizer) moveHome(ctx context.Context, m *move, call *tool.Call) *tool.Error {
	if m == nil {
		return nil
	}
	is, err := a.homes.of(ctx, m.key, m.from.ID)
	switch {
	case err != nil:
		return tool.Errorf(tool.KindUnavailable, "the session cannot be moved to this toolhost; nothing was executed: %w", err)
	case !is.Here:
		return away(call.Session, is.Home)
	}
	a.logger.Info("a session was moved to the workspace of this toolhost, as a person approved", "session", call.Session, "principal", call.Principal, "call", call.ID,
		"from", m.from.At)
	return nil
}

// stillAtHome looks again just before a call begins, which may have waited since it was decided. It
// returns why the call must not be executed, or nil. That a ledger does not answer is no reason: it
// did before.
func (a *authorizer) stillAtHome(ctx context.Context, call *tool.Call, t *catalog.Tool) *tool.Error {
	if !a.keeps(call, t) {
		return nil
	}
	if is, err := a.homes.of(ctx, homeKey{call.Principal, call.Session}, ""); err == nil && !is.Here {
		return away(call.Session, is.Home)
	}
	return nil
}

func away(session string, is callstore.Home) *tool.Error {
	return tool.Errorf(tool.KindUnavailable, "the files of the session %q are at the toolhost %s; nothing was executed here", result.Clip(session, 200), result.Clip(is.At, 200))
}

// refuse makes a decision a refusal, whatever the rules say.
func (a *authorizer) refuse(made *decision, why *tool.Error) {
	made.refused, made.standing = why, nil
	made.entry.Outcome, made.entry.Approval, made.entry.Standing, made.entry.Reason = audit.ApprovalRequired, nil, "", why.Message
	if why.Kind != tool.KindApprovalRequired {
		made.entry.Outcome = audit.Denied
	}
}
