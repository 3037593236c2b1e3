package host

import (
	"context"
	"fmt"
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
	// Home returns where the workspace of a session is. A session without a home gets this toolhost.
	// move makes this one the home in any case.
	Home(ctx context.Context, principal, session string, move bool) (callstore.Home, error)
}

// homes keeps sessions at the toolhost that has their files.
//
// The problem: a client sends the calls of a session to another toolhost if the first one is lost,
// and a workspace on the disk of the other one has none of the files. A model that reads an empty
// folder takes the work for undone. The idea: the first call of a session with access to a
// workspace makes its toolhost the home, and another toolhost executes no such call before a person
// has approved it, which moves the home. The invariant is that no approval moves a session that
// was given before a person could read about the move: one that came before this toolhost asked is
// not enough.
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
	silent time.Time // since when Life has not changed, as far as this toolhost has looked
	shown  bool      // a person is asked, with the words of the move
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
// counts as long as the ledger does not answer.
func (h *homes) of(ctx context.Context, key homeKey, move bool) (home, error) {
	h.mu.Lock()
	was, known := h.known[key]
	h.mu.Unlock()
	now := time.Now()
	if known && !move && !was.old(now) {
		return was, nil
	}
	ctx, cancel := context.WithTimeout(ctx, homeAsk)
	defer cancel()
	said, err := h.ledger.Home(ctx, key.principal, key.session, move)
	switch {
	case err == nil:
	case known && !move:
		// Each question may take as long. The home cannot show that it lives meanwhile.
		was.read, was.silent, was.shown = now, now, false
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
	if old, ok := h.known[key]; ok && said == old.Home {
		is.silent, is.shown = old.silent, old.shown
	}
	h.put(key, is)
	return is, nil
}

// show notes that a person is asked.
func (h *homes) show(key homeKey, is home) {
	is.shown = true
	h.mu.Lock()
	defer h.mu.Unlock()
	h.put(key, is)
}

func (h *homes) put(key homeKey, is home) {
	if len(h.known) >= mostHomes {
		clear(h.known)
	}
	h.known[key] = is
}

// atHome changes a decision about a call that may use a workspace, if the files of its session are
// at another toolhost. approved says that the call has an approval for its final arguments.
func (a *authorizer) atHome(ctx context.Context, made *decision, call *tool.Call, t *catalog.Tool, approved bool) {
	if a.homes == nil || call.Session == "" || made.entry.Outcome == audit.Denied || a.sandbox(t.Plugin.Info.Name).Workspace == tool.AccessNone {
		return
	}
	key := homeKey{call.Principal, call.Session}
	is, err := a.homes.of(ctx, key, false)
	if err == nil && !is.Here && is.shown && approved && made.refused == nil {
		if is, err = a.homes.of(ctx, key, true); err == nil {
			a.logger.Info("a session was moved to the workspace of this toolhost, as a person approved", "session", call.Session, "principal", call.Principal, "call", call.ID)
		}
	}
	switch {
	case err == nil && is.Here, err != nil && !t.Spec.HasSideEffects():
	case err != nil:
		a.refuse(made, tool.Errorf(tool.KindUnavailable, "it cannot be seen which toolhost has the files of the session; nothing was executed: %w", err))
	case time.Since(is.silent) < homeBack:
		// Without a pause to wait, a client of several toolhosts tries the others, and thus the home.
		if made.refused == nil {
			a.refuse(made, tool.Errorf(tool.KindUnavailable, "the files of the session %q are at the toolhost %s; nothing was executed here", result.Clip(call.Session, 200), result.Clip(is.At, 200)))
		}
	default:
		words := fmt.Sprintf("the files of the session %q are at the toolhost %s, which shows no life, and not here; "+
			"with an approval, the session goes on in the workspace of this toolhost, which may be empty", result.Clip(call.Session, 200), result.Clip(is.At, 200))
		a.homes.show(key, is)
		if made.refused == nil {
			a.refuse(made, tool.Errorf(tool.KindApprovalRequired, "%s", words))
			return
		}
		made.refused.Message += "; " + words
		made.entry.Reason = made.refused.Message // a held call shows it
	}
}

// refuse makes a decision a refusal, whatever the rules say.
func (a *authorizer) refuse(made *decision, why *tool.Error) {
	made.refused, made.standing = why, nil
	made.entry.Outcome, made.entry.Approval, made.entry.Standing, made.entry.Reason = audit.ApprovalRequired, nil, "", why.Message
	if why.Kind != tool.KindApprovalRequired {
		made.entry.Outcome = audit.Denied
	}
}
