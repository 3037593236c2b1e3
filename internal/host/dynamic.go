package host

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/internal/rpc/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

// describeTimeout is for one question to a plugin, with the launch that it may need: who lists tools waits for it.
const describeTimeout = 5 * time.Second

var errNoAnswer = fmt.Errorf("it did not answer within %v", describeTimeout)

// question is what a plugin is asked for one session.
type question struct {
	viewer tool.Viewer // with the context values that the tools declare, and no others
	plugin *catalog.Plugin
	tools  []*catalog.Tool // all dynamic ones of the plugin
}

// questionOf returns what the tool's plugin is to be asked; false if there is nothing by which sessions could differ.
func questionOf(t *catalog.Tool, v tool.Viewer) (question, bool) {
	q := question{viewer: v, plugin: t.Plugin}
	var keys []string
	for _, other := range t.Plugin.Tools {
		if other.Spec.Dynamic {
			q.tools = append(q.tools, other)
			keys = append(keys, other.Spec.ContextKeys...)
		}
	}
	q.viewer.Context = declaredValues(v.Context, keys)
	return q, q.viewer.Session != "" || len(q.viewer.Context) > 0
}

func (q *question) key() descriptionKey {
	h := sha256.New()
	write := func(text string) {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(text)))
		h.Write(size[:])
		h.Write([]byte(text))
	}
	for _, text := range []string{q.viewer.Principal, q.viewer.Session, q.plugin.Info.Name, q.plugin.Digest} {
		write(text)
	}
	for _, name := range slices.Sorted(maps.Keys(q.viewer.Context)) {
		write(name)
		write(string(q.viewer.Context[name]))
	}
	return descriptionKey(h.Sum(nil))
}

// seenBy returns tools as a session sees them, in their order. Dynamic ones of a plugin that does not say in time how they
// look are as it declares them. The slice that it is given stays as it is.
func (h *Host) seenBy(ctx context.Context, v tool.Viewer, tools []*catalog.Tool) []*catalog.Tool {
	if !slices.ContainsFunc(tools, func(t *catalog.Tool) bool { return t.Spec.Dynamic }) {
		return tools
	}
	asked := make([]*description, len(tools))
	seen := slices.Clone(tools)
	for i, t := range tools { // all plugins first: they are asked side by side
		asked[i] = h.describe(t, v)
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
			own := *described
			own.Plugin = tools[i].Plugin
			seen[i] = &own
		}
	}
	return seen
}

// schema returns what the call's arguments have to fit. The error is that the call ended first.
func (r *run) schema() (*catalog.Schema, error) {
	viewer := tool.Viewer{Principal: r.call.Principal, Session: r.call.Session, Context: r.call.Context}
	seen := r.host.seenBy(&r.ctx, viewer, []*catalog.Tool{r.tool})
	r.mu.Lock()
	r.output = seen[0].Output
	r.mu.Unlock()
	return seen[0].Schema, context.Cause(&r.ctx)
}

// describe returns what the tool's plugin says of it for a session, which may have yet to come; nil if the tool is the same
// for all. It asks the plugin if nobody has lately, and does not wait.
func (h *Host) describe(t *catalog.Tool, v tool.Viewer) *description {
	if !t.Spec.Dynamic {
		return nil
	}
	q, differs := questionOf(t, v)
	if !differs {
		return nil
	}
	d, first := h.described.get(q.key())
	if first && !h.spawn(func() { h.answer(d, q) }) { // ends with describeTimeout, or with the host
		h.described.settle(d, nil, errStopping)
	}
	return d
}

func (h *Host) answer(d *description, q question) {
	ctx, cancel := context.WithTimeoutCause(h.ctx, describeTimeout, errNoAnswer)
	defer cancel()
	tools, err := h.askDescription(ctx, q)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		h.cfg.Logger.Debug("dynamic tools are shown as they are declared", "plugin", q.plugin.Info.Name, "session", q.viewer.Session, "error", err)
	}
	h.described.settle(d, tools, err)
}

// askDescription asks an instance of the plugin, the session's own if it has one.
func (h *Host) askDescription(ctx context.Context, q question) (map[string]*catalog.Tool, error) {
	s := h.supervisor(q.plugin)
	// What takes a place at an instance is a run; this one has no goroutine, no deadline and no outcome of its own.
	asking := &run{host: h, call: tool.Call{Principal: q.viewer.Principal, Session: q.viewer.Session}}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(&asking.ctx, func() { cancel(context.Cause(&asking.ctx)) })()
	place, err := s.acquire(ctx, asking, nil)
	if err != nil {
		return nil, err
	}
	defer s.release(place)
	request := pluginwire.DescribeRequest{Session: q.viewer.Session, Context: q.viewer.Context}
	for _, t := range q.tools {
		request.Tools = append(request.Tools, t.DeclaredName())
	}
	answer, err := place.instance.proc.Conn().Describe(ctx, request)
	if err != nil {
		return nil, err
	}
	if place.instance.plugin.Digest != q.plugin.Digest {
		return nil, errors.New("it is being upgraded")
	}
	described := map[string]*catalog.Tool{}
	for _, t := range q.tools {
		i := slices.IndexFunc(answer.Tools, func(spec tool.Spec) bool { return spec.Name == t.DeclaredName() })
		if i < 0 {
			continue
		}
		own, err := t.Described(h.cfg.Secrets.Redactor().Spec(answer.Tools[i]))
		if err != nil {
			h.cfg.Logger.Debug("a dynamic tool is shown as it is declared", "tool", t.Spec.Name, "session", q.viewer.Session, "error", err)
			continue
		}
		described[t.DeclaredName()] = own
	}
	return described, nil
}
