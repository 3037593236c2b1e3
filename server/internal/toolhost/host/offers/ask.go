package offers

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/toolhost/artifact"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/result"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
	"github.com/toolhost/toolhost/tool"
)

// authorize decides whether a requester may have something of a plugin, and writes the decision to
// the audit log. To the operator's rules, the request is the call of a read-only tool. Nobody can
// approve it, so a rule that requires an approval refuses it.
func (o *Offers) authorize(ctx context.Context, who *tool.Requester, settings *Settings, p *catalog.Plugin, kind string, arguments json.RawMessage) error {
	name := p.Info.Name + ":" + kind
	d := settings.Policy.Decide(ctx, policy.Input{
		Principal: who.Principal, Groups: who.Groups, Via: who.Via, Session: who.Session, Plugin: p.Info.Name,
		Tool: &tool.Spec{Name: name, ReadOnly: true, Idempotent: true}, Arguments: arguments,
	})
	if d.Err != nil && ctx.Err() != nil {
		return tool.AsError(context.Cause(ctx))
	}
	entry := audit.Decision{
		Principal: who.Principal, Via: who.Via, From: who.From, Session: who.Session, Tool: name, Plugin: p.Info.Name,
		Rule: d.Rule, Reason: d.Reason, Arguments: arguments, Outcome: audit.Allowed,
	}
	var refused *tool.Error
	switch d.Then {
	case policy.Allow:
	case policy.RequireApproval, policy.FourEyes:
		refused = tool.Errorf(tool.KindDenied, "toolhost refuses %s of %q: a rule requires an approval, %s, and callers cannot ask for an approval of %[1]s", kind, p.Info.Name, d.Because())
	default:
		refused = tool.Errorf(tool.KindDenied, "toolhost refuses %s of %q: it is not allowed, %s", kind, p.Info.Name, d.Because())
	}
	if refused != nil {
		refused.Rule, refused.Plugin, entry.Outcome = d.Rule, p.Info.Name, audit.Denied
	}
	if err := settings.Record(ctx, entry); err != nil && refused == nil {
		return tool.AsError(err)
	}
	if refused != nil {
		return refused
	}
	return nil
}

// ask makes a request to an instance of a plugin: the one that a call of the requester would get.
// The request counts as a call for quotas, and has the default time limit of calls. If the
// connection is lost before the answer, another instance is asked, once, because a request has no
// side effects.
func (o *Offers) ask(ctx context.Context, who *tool.Requester, settings *Settings, p *catalog.Plugin, request func(context.Context, pluginconn.Conn, pluginconn.Asker) error) error {
	end, err := o.count(ctx, who, settings)
	if err != nil {
		return err
	}
	defer end()
	ctx, cancel := context.WithTimeoutCause(ctx, settings.DefaultTimeout, tool.Errorf(tool.KindTimeout, "%q did not answer within %v", p.Info.Name, settings.DefaultTimeout))
	defer cancel()
	for again := true; ; again = false {
		err := o.askOnce(ctx, who, settings, p, request)
		if errors.Is(err, pluginconn.ErrLost) && again {
			continue
		}
		return o.failure(ctx, settings, p, err)
	}
}

// count counts a request for the quotas of its principal, until end.
func (o *Offers) count(ctx context.Context, who *tool.Requester, settings *Settings) (end func(), err error) {
	if settings.Quotas == nil {
		return func() {}, nil
	}
	if full := o.cfg.Usage.Begin(ctx, settings.Quotas, who.Principal); full != nil {
		return nil, full
	}
	return func() { o.cfg.Usage.End(who.Principal) }, nil
}

func (o *Offers) askOnce(ctx context.Context, who *tool.Requester, settings *Settings, p *catalog.Plugin, request func(context.Context, pluginconn.Conn, pluginconn.Asker) error) error {
	lease, ctx, release, err := o.lease(ctx, who, p)
	if err != nil {
		return err
	}
	defer release()
	of, err := o.asker(who, settings, p)
	if err != nil {
		return err
	}
	err = request(ctx, lease.Instance().Conn(), of)
	if errors.Is(err, pluginconn.ErrStuck) {
		lease.Unyielding("it did not answer a request, nor another one after that was canceled")
	}
	return err
}

// lease gets an instance, until release. The context that it returns ends with ctx, or if the
// instance must stop.
func (o *Offers) lease(ctx context.Context, who *tool.Requester, p *catalog.Plugin) (*supervisor.Lease, context.Context, func(), error) {
	bound, cancel := context.WithCancelCause(ctx)
	stopHost := context.AfterFunc(o.cfg.Context, func() { cancel(context.Cause(o.cfg.Context)) })
	request := supervisor.Request{Call: &tool.Call{Principal: who.Principal, Session: who.Session, Tool: p.Info.Name}, State: &supervisor.Inquiry{End: cancel}}
	lease, err := o.cfg.Plugins().Of(p, identity.TenantOf(who.Principal)).Acquire(bound, request)
	release := func() {
		if lease != nil {
			lease.Release()
		}
		stopHost()
		cancel(nil)
	}
	if err != nil {
		release()
		return nil, nil, nil, err
	}
	return lease, bound, release, nil
}

// asker returns who a request is for, with the secrets of the plugin.
func (o *Offers) asker(who *tool.Requester, settings *Settings, p *catalog.Plugin) (pluginconn.Asker, error) {
	of := pluginconn.Asker{Principal: who.Principal, Session: who.Session}
	if p.Manifest == nil || p.Manifest.MCP == nil {
		return of, nil
	}
	values, err := settings.Secrets.View(who.Principal).Values(p.Info.Name, p.Manifest.MCP.SecretNames())
	if err != nil {
		return of, tool.Errorf(tool.KindUnavailable, "%q cannot be asked: %w", p.Info.Name, err)
	}
	of.Secrets = values
	return of, nil
}

// failure returns an error of a request as callers get it.
func (o *Offers) failure(ctx context.Context, settings *Settings, p *catalog.Plugin, err error) error {
	if err == nil {
		return nil
	}
	var failed tool.Error
	known, typed := errors.AsType[*tool.Error](err)
	switch {
	case ctx.Err() != nil:
		failed = *tool.AsError(context.Cause(ctx))
	case errors.Is(err, pluginconn.ErrLost):
		failed = *tool.Errorf(tool.KindCrashed, "the process of %q ended before it answered", p.Info.Name)
	case errors.Is(err, pluginconn.ErrNoRoom):
		failed = *tool.Errorf(tool.KindUnavailable, "%q does not answer at the moment", p.Info.Name)
	case typed:
		failed = *known
	default:
		failed = *tool.Errorf(tool.KindInternal, "%w", err)
	}
	failed.Plugin = p.Info.Name
	return settings.Secrets.Redactor().Error(&failed)
}

// shape removes secrets from blocks that a plugin returned, and replaces those that are too large
// by artifacts of the requester.
func (o *Offers) shape(who *tool.Requester, settings *Settings, shown int, blocks []*tool.Content) {
	whole := tool.Result{Content: make([]tool.Content, len(blocks))}
	for i, b := range blocks {
		whole.Content[i] = *b
	}
	whole = settings.Secrets.Redactor().Event(tool.Event{Ended: &tool.Outcome{Result: whole}}).Ended.Result
	shaper := result.Shaper{
		Store: o.cfg.Artifacts, Owner: artifact.Owner{Principal: who.Principal, Session: who.Session}, Shown: min(shown, tool.MaxArtifactPiece), Losses: offerLosses{o.cfg.Logger},
	}
	// One after the other, so that each part keeps its place and gets an artifact of its own.
	left := shaper.Shown
	for i := range whole.Content {
		one := tool.Result{Content: whole.Content[i : i+1]}
		shaper.Shown = max(left, 0)
		shaper.Shape(&one)
		*blocks[i] = one.Content[0]
		left -= len(one.Content[0].Text) + len(one.Content[0].Data)
	}
}

// offerLosses logs content that could not be stored.
type offerLosses struct{ logger *slog.Logger }

// LostContent implements result.LossReporter.
func (l offerLosses) LostContent(size uint64, err error) {
	l.logger.Error("a large resource was not kept: its caller gets a part of it", "bytes", size, "error", err)
}
