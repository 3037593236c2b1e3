package host

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

// describeTimeout bounds one request to describe tools, including the launch that it may need.
// Callers that list tools wait for it.
const describeTimeout = 5 * time.Second

var errNoAnswer = fmt.Errorf("it did not answer within %v", describeTimeout)

// descriptionRequest asks a plugin to describe its dynamic tools for one session.
type descriptionRequest struct {
	viewer tool.Viewer // with only those context values that the tools declare
	plugin *catalog.Plugin
	tools  []*catalog.Tool // all dynamic tools of the plugin
}

// descriptionRequestFor returns the request that asks a tool's plugin for descriptions. ok is false
// if the viewer has no session and no context by which the descriptions could differ.
func descriptionRequestFor(t *catalog.Tool, v tool.Viewer) (descriptionRequest, bool) {
	r := descriptionRequest{viewer: v, plugin: t.Plugin}
	var keys []string
	for _, other := range t.Plugin.Tools {
		if other.Spec.Dynamic {
			r.tools = append(r.tools, other)
			keys = append(keys, other.Spec.ContextKeys...)
		}
	}
	keys = slices.DeleteFunc(keys, func(key string) bool { return strings.HasPrefix(key, tool.ReservedPrefix) }) // the viewer chose the values
	r.viewer.Context = declaredValues(v.Context, keys)
	return r, r.viewer.Session != "" || len(r.viewer.Context) > 0
}

// key returns the digest of all that the answer may depend on.
func (r *descriptionRequest) key() descriptionKey {
	h := digest{sha256.New()}
	h.add(r.viewer.Principal, r.viewer.Session, r.plugin.Info.Name, r.plugin.Digest)
	for _, name := range slices.Sorted(maps.Keys(r.viewer.Context)) {
		h.add(name, string(r.viewer.Context[name]))
	}
	return descriptionKey(h.Sum(nil))
}

// seenBy returns tools as a session sees them, in their order. If a plugin does not describe its
// dynamic tools in time, seenBy returns them as the plugin declares them. It does not change the
// slice.
func (l *toolList) seenBy(ctx context.Context, v tool.Viewer, tools []*catalog.Tool) []*catalog.Tool {
	if !slices.ContainsFunc(tools, func(t *catalog.Tool) bool { return t.Spec.Dynamic }) {
		return tools
	}
	asked := make([]*description, len(tools))
	seen := slices.Clone(tools)
	for i, t := range tools { // ask all plugins before waiting for one
		asked[i] = l.describe(t, v)
	}
	for i, d := range asked {
		if d == nil {
			continue
		}
		select {
		case <-d.done:
		case <-ctx.Done():
			return seen
		}
		if described := d.tools[tools[i].DeclaredName()]; described != nil {
			copied := *described
			copied.Plugin = tools[i].Plugin
			seen[i] = &copied
		}
	}
	return seen
}

// describe returns the description of a tool for a session; nil if the tool is the same for all
// sessions. If there is no recent answer, it asks the plugin in the background. The description
// then gets its tools later.
func (l *toolList) describe(t *catalog.Tool, v tool.Viewer) *description {
	if !t.Spec.Dynamic {
		return nil
	}
	r, differs := descriptionRequestFor(t, v)
	if !differs {
		return nil
	}
	d, first := l.described.get(r.key())
	if first && !l.spawn(func() { l.settle(d, r) }) { // ends with describeTimeout, or with the host
		l.described.settle(d, nil, errStopping)
	}
	return d
}

// settle asks the plugin for a description and stores the answer.
func (l *toolList) settle(d *description, r descriptionRequest) {
	ctx, cancel := context.WithTimeoutCause(l.ctx, describeTimeout, errNoAnswer)
	defer cancel()
	tools, err := l.askPlugin(ctx, r)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		l.cfg.Logger.Debug("dynamic tools are shown as they are declared", "plugin", r.plugin.Info.Name, "session", r.viewer.Session, "error", err)
	}
	l.described.settle(d, tools, err)
}

// askPlugin asks an instance of the plugin. If each session has its own instance, it asks that of
// the session.
func (l *toolList) askPlugin(ctx context.Context, r descriptionRequest) (map[string]*catalog.Tool, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	viewer := &tool.Call{Principal: r.viewer.Principal, Session: r.viewer.Session}
	lease, err := l.plugins.Of(r.plugin, identity.TenantOf(viewer.Principal)).Acquire(ctx, supervisor.Request{Call: viewer, State: &supervisor.Inquiry{End: cancel}})
	if err != nil {
		return nil, err
	}
	defer lease.Release()
	request := pluginconn.DescribeRequest{Session: r.viewer.Session, Context: r.viewer.Context}
	for _, t := range r.tools {
		request.Tools = append(request.Tools, t.DeclaredName())
	}
	answer, err := lease.Instance().Conn().Describe(ctx, request)
	if err != nil {
		return nil, err
	}
	if lease.Instance().Digest() != r.plugin.Digest {
		return nil, errors.New("it is being upgraded")
	}
	described := map[string]*catalog.Tool{}
	for _, t := range r.tools {
		i := slices.IndexFunc(answer.Tools, func(spec tool.Spec) bool { return spec.Name == t.DeclaredName() })
		if i < 0 {
			continue
		}
		own, err := t.Described(l.generations.latest().Secrets.Redactor().Spec(answer.Tools[i]))
		if err != nil {
			l.cfg.Logger.Debug("a dynamic tool is shown as it is declared", "tool", t.Spec.Name, "session", r.viewer.Session, "error", err)
			continue
		}
		described[t.DeclaredName()] = own
	}
	return described, nil
}
