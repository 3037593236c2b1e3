package hostserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"

	decisionv1 "github.com/toolhost/toolhost/gen/go/toolhost/decision/v1"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/toolhost/held"
	"github.com/toolhost/toolhost/tool"
)

// betweenLooks is how long a watch waits for news before it looks again: decisions end by
// themselves, and rights and credentials change.
const betweenLooks = 2 * time.Second

// WatchDecisions implements toolhost.decision.v1.DecisionService. Nothing is kept for a watcher but
// its position: when it has read a message, the watch reads what has changed meanwhile.
func (s *decisionService) WatchDecisions(req *decisionv1.WatchDecisionsRequest, stream grpc.ServerStreamingServer[decisionv1.WatchDecisionsResponse]) error {
	if err := s.check(); err != nil {
		return err
	}
	ctx, cancel := untilDrain(stream.Context(), s.tools.drain)
	defer cancel()
	begun, err := s.tools.deciderOf(ctx, req.GetOnBehalfOf())
	if err != nil {
		return err
	}
	owner := watchOf(begun.key, req.GetTenants())
	at, err := parseWatched(req.GetPosition(), owner)
	if err != nil {
		return err
	}
	valid, first, look := gate.Recheck(ctx), true, time.NewTicker(betweenLooks)
	defer look.Stop()
	for {
		now, err := s.tools.deciderOf(ctx, req.GetOnBehalfOf())
		switch {
		case err != nil:
			return err
		case valid != nil && !valid(ctx):
			return tool.Errorf(tool.KindUnavailable, "the credential of this stream is not valid any more")
		case now.rights() != begun.rights():
			return tool.Errorf(tool.KindDenied, "the rights of the caller have changed since the stream began; begin it again")
		}
		news, err := s.sendChanges(ctx, stream, now, req.GetTenants(), owner, &at, first)
		if err != nil {
			return err
		}
		first = false
		select {
		case <-news:
		case <-look.C:
		case <-ctx.Done():
			return ended(ctx, tool.AsError(ctx.Err()))
		}
	}
}

// sendChanges sends what has changed after a position, and moves the position. always sends the
// position also if nothing has changed.
func (s *decisionService) sendChanges(
	ctx context.Context, stream grpc.ServerStreamingServer[decisionv1.WatchDecisionsResponse], decider *decider, tenants tool.Tenants, owner string, at *held.Position, always bool,
) (news <-chan struct{}, err error) {
	found, now, whole, news := s.decisions.HeldCalls().Changed(*at, func(d *held.Decision) bool {
		return decider.sees(ctx, d) && (len(tenants) == 0 || tenants.Contain(identity.TenantOf(d.Principal)))
	})
	if !whole && len(found) == 0 && !always {
		*at = now
		return news, nil
	}
	for i := range found {
		m := &decisionv1.WatchDecisionsResponse{Restart: whole && i == 0, Source: found[i].Name}
		if found[i].State == held.Waiting {
			m.Decisions = []*decisionv1.Decision{decider.listed(&found[i])}
		}
		if err := stream.Send(m); err != nil {
			return nil, err
		}
	}
	*at = now
	return news, stream.Send(&decisionv1.WatchDecisionsResponse{
		Restart: whole && len(found) == 0, Complete: true, Position: watchedPosition(owner, now),
	})
}

func watchedPosition(owner string, at held.Position) string {
	return strings.Join([]string{owner, at.Origin, strconv.FormatInt(at.Number, 36)}, ".")
}

// rights says what the principal may see and decide now. A watch that began with other rights has
// shown something else.
func (p *decider) rights() string {
	delegates, everywhere := p.policy.Tenants(p.caller.who, authz.Delegate)
	approves := p.tenants(authz.CallsApprove)
	return fmt.Sprintf("%t %t %q %t %q %t %q", p.blind, p.seen == nil, p.seen, approves == nil, approves, everywhere, delegates)
}

// watchOf names the watches of a principal with a filter, to which a position belongs.
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

func parseWatched(text, owner string) (at held.Position, err error) {
	if text == "" {
		return at, nil
	}
	parts := strings.Split(text, ".")
	if len(parts) != 3 || parts[0] != owner {
		return at, tool.Errorf(tool.KindInvalidArgument, "the position is not that of a watch of this caller with these tenants; begin without a position")
	}
	at.Origin = parts[1]
	if at.Number, err = strconv.ParseInt(parts[2], 36, 64); err != nil || at.Number < 0 {
		return at, tool.Errorf(tool.KindInvalidArgument, "the position was not given out; begin without a position")
	}
	return at, nil
}
