package agentserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/toolhost/toolhost/client"
	decisionv1 "github.com/toolhost/toolhost/gen/go/toolhost/decision/v1"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// betweenChecks is the pause between two looks at the rights of the caller.
const betweenChecks = time.Second

// maxWatches is the most watches of one principal. One that begins without a position reads all
// that waits.
const maxWatches = 100

// WatchDecisions implements toolhost.decision.v1.DecisionService. Nothing is kept for a watcher but
// its positions: when it has read a message, the watch gets what has changed meanwhile.
func (s *decisions) WatchDecisions(req *decisionv1.WatchDecisionsRequest, stream grpc.ServerStreamingServer[decisionv1.WatchDecisionsResponse]) error {
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	caller, _ := identity.FromContext(ctx)
	if _, ok := s.watches.take(caller.Key(), 1); !ok {
		return tool.Errorf(tool.KindRateLimited, "%s has %d watches of decisions open; end one, or list the decisions", caller.Key(), maxWatches)
	}
	defer s.watches.give(caller.Key(), 1)
	w := &decisionWatch{
		decisions: s, tenants: req.GetTenants(), stream: stream, out: outgoing{of: s.unread, principal: caller.Key()},
		valid: gate.Recheck(ctx), rights: rightsOf(ctx), owner: watchOf(caller.Key(), req.GetTenants()),
	}
	defer w.out.end()
	whole, err := w.parse(req.GetPosition())
	if err != nil {
		return err
	}
	if !whole {
		now, err := s.present(ctx)
		if err != nil {
			return err
		}
		if w.runs.position > now { // the store was restored
			whole, w.heldAt = true, ""
			s.feeds.drop()
		}
	}
	w.feed = s.feeds.join()
	defer s.feeds.leave(w.feed)
	w.knowsHeld = !whole && w.heldAt != "" && w.heldAt != ended
	changes, wait := w.watchHeld(ctx)
	defer wait()
	defer cancel()
	return w.run(ctx, whole, changes)
}

// decisionWatch is one watch. It is for one goroutine.
type decisionWatch struct {
	*decisions
	tenants []string
	stream  grpc.ServerStreamingServer[decisionv1.WatchDecisionsResponse]
	out     outgoing
	valid   func(context.Context) bool // nil: always
	rights  string                     // of the caller, when the watch began

	owner   string // to whom positions belong
	feed    *feed
	runs    place
	heldAt  string // the position at toolhost; empty: not known; ended: it holds no calls
	missing []string
	// knowsHeld is whether the watcher may know calls that toolhost holds.
	knowsHeld bool
}

// heldChange is what toolhost sends. why is not empty if it does not answer.
type heldChange struct {
	client.InboxChange
	why  string
	none bool // toolhost holds no calls
}

// run sends the present state, if whole is set, and then what changes. changes is nil if there is
// no toolhost.
func (w *decisionWatch) run(ctx context.Context, whole bool, changes <-chan heldChange) error {
	check := time.NewTicker(betweenChecks)
	defer check.Stop()
	patience := time.NewTimer(heldListWait)
	defer patience.Stop()
	late := patience.C
	settled := changes == nil // the state of toolhost is known, or known to be missing
	if whole {
		if err := w.sendAll(ctx); err != nil {
			return err
		}
	}
	for begun := false; ; begun = true {
		news, fed, err := w.sendChanged(ctx)
		if err != nil {
			return err
		}
		if (news || !begun) && settled {
			if err := w.complete(); err != nil {
				return err
			}
		}
		news = false
		select {
		case <-ctx.Done():
			return tool.AsError(ctx.Err())
		case <-w.drain:
			return nil
		case <-late:
			if late = nil; !settled {
				w.missing, settled, news = missingHeld(fmt.Sprintf("it did not answer within %v", heldListWait)), true, true
			}
		case change := <-changes:
			if change.Restart && w.knowsHeld { // what the watcher knows of toolhost is not true any more
				if err := w.sendAll(ctx); err != nil {
					return err
				}
				settled = false
			}
			if news, err = w.apply(ctx, &change); err != nil {
				return err
			}
			settled = settled || news
		case <-fed:
		case <-check.C:
		}
		if err := w.check(ctx); err != nil {
			return err
		}
		if news {
			if err := w.complete(); err != nil {
				return err
			}
		}
	}
}

// check returns an error if the credential or the rights of the caller are others than at the
// beginning.
func (w *decisionWatch) check(ctx context.Context) error {
	switch {
	case w.valid != nil && !w.valid(ctx):
		return tool.Errorf(tool.KindUnavailable, "the credential of this stream is not valid any more")
	case rightsOf(ctx) != w.rights:
		return tool.Errorf(tool.KindDenied, "the rights of the caller have changed since the stream began; begin it again")
	}
	return nil
}

func (w *decisionWatch) send(m *decisionv1.WatchDecisionsResponse) error {
	return w.out.send(proto.Size(m), func() error { return w.stream.Send(m) })
}

// complete says that the watcher knows the whole state. If toolhost has sent only a part of its
// state, and then has failed, there is no position to go on from.
func (w *decisionWatch) complete() error {
	m := &decisionv1.WatchDecisionsResponse{Complete: true, Unavailable: w.missing}
	if w.heldAt != "" || !w.knowsHeld {
		m.Position = positionOf(w.owner, w.runs.position, w.heldAt)
	}
	return w.send(m)
}

// positionOf returns the position of a watch, at the store and at toolhost.
func positionOf(owner string, runs int64, held string) string {
	return strings.Join([]string{owner, strconv.FormatInt(runs, 36), held}, ".")
}

// present returns the present position of the store.
func (s *decisions) present(ctx context.Context) (int64, error) {
	_, now, err := s.agent.ChangedDecisions(ctx, agent.DecisionQuery{}, runstore.Now)
	return now, err
}

// sendAll makes the watcher begin again, and sends what runs wait for. The position is taken first:
// what changes meanwhile comes again.
func (w *decisionWatch) sendAll(ctx context.Context) (err error) {
	w.knowsHeld, w.runs = false, place{}
	if w.runs.position, err = w.present(ctx); err != nil {
		return err
	}
	if err := w.send(&decisionv1.WatchDecisionsResponse{Restart: true}); err != nil {
		return err
	}
	query, ok := queryOf(ctx, w.tenants)
	for ok {
		list, next, err := w.agent.ListDecisions(ctx, query)
		if err != nil {
			return err
		}
		for len(list) > 0 {
			n := slices.IndexFunc(list, func(d agent.Decision) bool { return d.Run.ID != list[0].Run.ID })
			if n < 0 {
				n = len(list)
			}
			if err := w.sendRun(ctx, agent.DecisionSet{RunID: list[0].Run.ID, Decisions: list[:n]}); err != nil {
				return err
			}
			list = list[n:]
		}
		query.Token, ok = next, next != ""
	}
	return nil
}

func (w *decisionWatch) sendRun(ctx context.Context, set agent.DecisionSet) error {
	m := &decisionv1.WatchDecisionsResponse{Source: named(ctx, set.RunID)}
	for i := range set.Decisions {
		m.Decisions = append(m.Decisions, w.fromDecision(ctx, &set.Decisions[i]))
	}
	return w.send(m)
}

// sendChanged sends what runs wait for whose decisions have changed. It reports whether there were
// some, and returns a channel that is closed when there may be more.
func (w *decisionWatch) sendChanged(ctx context.Context) (sent bool, more <-chan struct{}, err error) {
	query, ok := queryOf(ctx, w.tenants)
	for ok {
		set, more, err := w.feed.next(&w.runs)
		if more != nil || err != nil {
			return sent, more, err
		}
		sets, now := []agent.DecisionSet(nil), w.runs.position
		if set == nil {
			if sets, now, err = w.agent.ChangedDecisions(ctx, query, now); err != nil {
				return sent, nil, restored(err)
			}
		} else if query.Selects(set.RunID, set.Owner) {
			sets = []agent.DecisionSet{*set}
		}
		for i := range sets {
			if err := w.sendRun(ctx, sets[i]); err != nil {
				return sent, nil, err
			}
		}
		sent, w.runs.position = sent || len(sets) > 0, now
	}
	return sent, nil, nil
}

// restored says what a watcher does about a position that the store does not know any more.
func restored(err error) error {
	if errors.Is(err, runstore.ErrPosition) {
		return tool.Errorf(tool.KindUnavailable, "the store was restored; watch again")
	}
	return err
}

// apply sends a change of toolhost, and reports whether the watcher knows the whole state then.
func (w *decisionWatch) apply(ctx context.Context, change *heldChange) (complete bool, err error) {
	switch {
	case change.none:
		w.heldAt, w.missing = ended, nil
		return true, nil
	case change.why != "":
		before := w.missing
		w.missing = missingHeld(change.why)
		return !slices.Equal(before, w.missing), nil
	}
	if isHeld(change.Source) {
		m := &decisionv1.WatchDecisionsResponse{Source: change.Source}
		for i := range change.Decisions {
			if d := &change.Decisions[i]; d.Name == change.Source && seesHeld(ctx, d) {
				m.Decisions = append(m.Decisions, fromHeld(ctx, d))
			}
		}
		w.knowsHeld = true
		if err := w.send(m); err != nil {
			return false, err
		}
	}
	if change.Complete {
		w.knowsHeld = true
		w.heldAt, w.missing = change.Position, nil
	}
	return change.Complete, nil
}

func missingHeld(why string) []string {
	return []string{"the calls that the toolhost of agentd holds are missing: " + why}
}

// watchHeld watches the calls that toolhost holds, in the name of the caller, until ctx ends. wait
// waits for its goroutine. No change waits for its reader: toolhost knows the position.
func (w *decisionWatch) watchHeld(ctx context.Context) (changes <-chan heldChange, wait func()) {
	caller, _ := identity.FromContext(ctx)
	named, err := asCaller(ctx)
	if w.held == nil || err != nil {
		return nil, func() {}
	}
	to, over := make(chan heldChange), make(chan struct{})
	give := func(change heldChange) bool {
		select {
		case to <- change:
			return true
		case <-ctx.Done():
			return false
		}
	}
	at := strings.TrimPrefix(w.heldAt, ended)
	go func() { // ends with ctx
		defer close(over)
		for {
			pause := heldListWait
			for change, err := range w.heldWatches.WatchInbox(named, caller, client.InboxWatch{InboxFilter: client.InboxFilter{Tenants: w.tenants}, Position: at}) {
				switch tool.KindOf(err) {
				case "":
				case tool.KindUnsupported:
					give(heldChange{none: true})
					return
				case tool.KindInvalidArgument, tool.KindDenied: // of before, or of other rights: look at all
					at, pause = "", 15*time.Second
				}
				next := heldChange{InboxChange: change}
				if err != nil {
					next.why = whyMissing(err)
				}
				if !give(next) {
					return
				}
				if change.Complete {
					at = change.Position
				}
			}
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return
			}
		}
	}()
	return to, func() { <-over }
}

// rightsOf says what the caller may see and decide now. A watch that began with other rights has
// shown something else.
func rightsOf(ctx context.Context) string {
	caller, _ := identity.FromContext(ctx)
	var all []any
	for _, right := range []authz.Right{authz.RunsList, authz.RunsApprove, authz.RunsOwn} {
		tenants, everywhere := gate.PolicyOf(ctx).Tenants(caller, right)
		all = append(all, tenants, everywhere)
	}
	return fmt.Sprintf("%q", all)
}

// watchOf names the watches of a caller with a filter, to which a position belongs.
func watchOf(key string, tenants []string) string {
	sorted := slices.Clone(tenants)
	slices.Sort(sorted)
	text, err := json.Marshal([]any{key, slices.Compact(sorted)})
	if err != nil {
		panic(err) // cannot happen: texts
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// parse sets the positions of a request. whole is whether the watch begins with the present state.
func (w *decisionWatch) parse(text string) (whole bool, err error) {
	if text == "" {
		return true, nil
	}
	owner, rest, _ := strings.Cut(text, ".")
	runs, held, ok := strings.Cut(rest, ".")
	if owner != w.owner {
		return false, tool.Errorf(tool.KindInvalidArgument, "the position is not that of a watch of this caller with these tenants; begin without a position")
	}
	if w.runs.position, err = strconv.ParseInt(runs, 36, 64); err != nil || w.runs.position < 0 || !ok {
		return false, tool.Errorf(tool.KindInvalidArgument, "the position was not given out; begin without a position")
	}
	w.heldAt = held
	return false, nil
}
