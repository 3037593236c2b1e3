package host

import (
	"context"

	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/tool"
)

// infos returns what makes of tools what callers see of them, with the reason why one cannot be called: a secret that it
// needs and cannot have. Each secret is looked at once. It is for one goroutine, and for one answer.
func (h *Host) infos() func(t *catalog.Tool) tool.Info {
	view := h.cfg.Secrets.View()
	return func(t *catalog.Tool) tool.Info {
		info := t.Info()
		if _, err := view.Values(t.Plugin.Info.Name, t.Spec.RequiresAuth); err != nil {
			info.UnavailableReason = err.Error()
		}
		return info
	}
}

// secrets returns those that the call's tool declared, as they are now. From then on, nobody is shown them.
func (r *run) secrets() (map[string]string, *tool.Error) {
	values, err := r.host.cfg.Secrets.View().Values(r.tool.Plugin.Info.Name, r.tool.Spec.RequiresAuth)
	if err != nil {
		return nil, tool.Errorf(tool.KindUnavailable, "the tool %q cannot be called: %w; nothing was executed", r.call.Tool, err)
	}
	return values, nil
}

// hasSecrets reports whether all secrets are there that the call's tool needs.
func (r *run) hasSecrets() bool {
	_, err := r.secrets()
	return err == nil
}

// next returns the next thing that the plugin says of the call, without secrets. Nobody but the follower hears what it said
// with them.
func (f *follower) next(ctx context.Context) (tool.Event, error) {
	ev, err := f.wire.Next(ctx)
	if err != nil {
		return ev, err
	}
	return f.run.host.cfg.Secrets.Redactor().Event(ev), nil
}
