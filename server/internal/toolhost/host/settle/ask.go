package settle

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/ledger"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

const (
	// maxTime bounds how long a tool has to say what became of a call: a caller waits for it.
	maxTime = 10 * time.Second
	// maxWait bounds how long a check waits for an instance.
	maxWait = 30 * time.Second
	// maxAsks bounds how often a check is asked that did not reach the tool, and firstPause is
	// the first pause between two of them. It doubles.
	maxAsks    = 4
	firstPause = 500 * time.Millisecond
)

var (
	errWait = fmt.Errorf("no instance took the question within %v", maxWait)
	errTime = errors.New("it did not answer in time")
)

// state is the state of a request to settle a call. It holds a lease like a call.
type state struct {
	cancel  context.CancelCauseFunc // ends the request
	sum     ledger.Sum
	began   time.Time
	succeed atomic.Bool
}

// Sum implements supervisor.CallState. It differs from the sum of the call itself: if the request
// crashes processes, the call is not refused for that, nor the plugin quarantined.
func (s *state) Sum() ledger.Sum     { return s.sum }
func (s *state) Received() time.Time { return s.began }
func (s *state) Executed() bool      { return true }
func (s *state) Succeeded() bool     { return s.succeed.Load() }
func (s *state) Cancel(cause error)  { s.cancel(cause) }

// askPatiently asks the tool, again after a pause if it could not be asked: the process that it
// would be asked on may have ended for the reason for which the call was lost. The caller must call
// leave as after ask.
func (k *check) askPatiently() (said tool.Settlement, leave func()) {
	waiting, stop := context.WithTimeoutCause(k.settler.cfg.Context, maxWait, errWait)
	defer stop()
	pause := firstPause
	for asks := 1; ; asks++ {
		said, leave, unasked := k.ask(waiting)
		if !unasked || asks == maxAsks {
			return said, leave
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-waiting.Done():
			timer.Stop()
			return said, leave
		}
		pause *= 2
	}
}

// ask asks the tool on an instance like one that would execute the call. Everything but a clear
// answer in time is unknown. If the tool did not answer in time, the caller must call leave when
// the answer has taken effect: it waits for the tool. Otherwise leave is nil, and the instance is
// free when ask returns, because a filter may need it. unasked says that the tool did not get the
// question. waiting bounds the wait for an instance.
func (k *check) ask(waiting context.Context) (said tool.Settlement, leave func(), unasked bool) {
	cfg := &k.settler.cfg
	request := &tool.Call{ID: k.key.ID, Tool: k.entry.Tool, Principal: k.key.Principal, Session: k.key.Session}
	asking, end := context.WithCancelCause(cfg.Context)
	defer end(nil)
	state := &state{cancel: end, sum: sha256.Sum256(append([]byte("settle "), k.entry.Sum[:]...)), began: time.Now()}
	lease, err := cfg.Plugins.Of(k.tool.Plugin, identity.TenantOf(k.key.Principal)).Acquire(waiting, supervisor.Request{Call: request, State: state})
	if err != nil {
		return notKnown("the tool could not be asked: %s", oneLine(err)), nil, true
	}
	k.instance = lease.Instance().ID()
	ctx, cancel := context.WithTimeoutCause(asking, k.tool.time(), errTime)
	defer cancel()
	wire, err := k.start(ctx, lease.Instance(), request)
	if err != nil {
		lease.Release()
		return notKnown("the tool could not be asked: %s", oneLine(err)), nil, true
	}
	release := func() { wire.Close(); lease.Release() }
	ended, err := k.follow(ctx, wire)
	said = k.judge(ctx, ended, err)
	if err != nil && ctx.Err() != nil {
		return said, func() { k.stop(wire, lease); release() }, false
	}
	state.succeed.Store(err == nil && ended.Err == nil)
	release()
	return said, nil, false
}

// start sends the request to an instance.
func (k *check) start(ctx context.Context, in *supervisor.Instance, request *tool.Call) (pluginconn.Call, error) {
	cfg, t := &k.settler.cfg, &k.tool
	if in.Digest() != t.Plugin.Digest {
		return nil, errors.New("the plugin is being upgraded")
	}
	secrets, err := k.tool.Secrets.View(request.Principal).Values(t.Plugin.Info.Name, t.Spec.RequiresAuth)
	if err != nil {
		return nil, err
	}
	workspace := cmp.Or(in.Workspace(), cfg.Workspace)
	return in.Conn().Start(ctx, pluginconn.Start{
		CallID: request.ID, Tool: t.DeclaredName(), Arguments: k.entry.Arguments, Complete: true, Attempt: 1, Timeout: k.tool.time(),
		Session: request.Session, Workspace: workspace, Values: cfg.Values(request, t.Spec.ContextKeys, workspace), Secrets: secrets, Settle: true, EffectKey: k.entry.EffectKey,
	})
}

// follow reads the events of the request up to its end. Of the others, it keeps the log records.
func (k *check) follow(ctx context.Context, wire pluginconn.Call) (*tool.Outcome, error) {
	for {
		ev, err := wire.Next(ctx)
		if err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return nil, err
		}
		ev = k.tool.Secrets.Redactor().Event(ev)
		switch {
		case ev.Ended != nil:
			return ev.Ended, nil
		case ev.Question != nil:
			_ = wire.Answer(ctx, ev.Question.ID, tool.Answer{Err: tool.Errorf(tool.KindUnsupported, "a tool that says what became of a call cannot ask")})
		case ev.Log != nil:
			k.settler.cfg.Logs.Append(tool.LogLine{
				Plugin: k.entry.Plugin, Instance: k.instance, CallID: k.key.ID, Record: *ev.Log, Tenant: identity.TenantOf(k.key.Principal),
			})
		}
	}
}

// judge returns what the tool said.
func (k *check) judge(ctx context.Context, ended *tool.Outcome, err error) tool.Settlement {
	// The tool has the same time as toolhost, so it may notice the end first.
	late := errors.Is(context.Cause(ctx), errTime) || ended != nil && ended.Err != nil && ended.Err.Kind == tool.KindTimeout
	switch {
	case late:
		return notKnown("it did not answer within %v", k.tool.time())
	case err != nil:
		return notKnown("asking it failed: %s", oneLine(err))
	case ended.Err != nil:
		return notKnown("asking it failed: %s", oneLine(ended.Err))
	case ended.Settled == nil || ended.CallID != k.key.ID || ctx.Err() != nil:
		return notKnown("it gave no valid answer")
	}
	said := *ended.Settled
	said.Reason = strings.Join(strings.Fields(said.Reason), " ")
	switch said.Verdict {
	case tool.VerdictHappened, tool.VerdictDidNotHappen:
	default:
		said.Verdict, said.Reason = tool.VerdictUnknown, cmp.Or(said.Reason, "it gave no reason")
	}
	return said
}

// stop cancels a request that took too long. A tool that does not stop loses its instance, like in
// a call.
func (k *check) stop(wire pluginconn.Call, lease *supervisor.Lease) {
	wire.Cancel(errTime.Error())
	ctx, cancel := context.WithTimeout(context.Background(), k.tool.YieldTimeout)
	defer cancel()
	if _, err := k.follow(ctx, wire); err != nil && ctx.Err() != nil {
		lease.Unyielding("a request what became of a call of " + k.entry.Tool + " did not stop when it was told to")
	}
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// time returns how long the tool has to answer.
func (t *Tool) time() time.Duration {
	d := min(maxTime, t.MaxTimeout)
	if own := t.Spec.Timeout; own > 0 {
		d = min(d, own)
	}
	return d
}
