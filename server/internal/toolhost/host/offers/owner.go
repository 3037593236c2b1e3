package offers

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/yosida95/uritemplate/v3"

	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/tool"
)

// owner returns the plugin that has a resource, a template or a prompt, and that the requester may
// use.
//
// Without the name of a plugin, a URI belongs to the only plugin that lists it or has a template
// that it follows. A URI says nothing about who has it, and a hostile server can list any. So if
// two plugins offer it, neither has it, and the requester must name one: otherwise a server could
// answer in place of another one. A plugin that cannot be asked now still has what it listed last.
func (o *Offers) owner(ctx context.Context, who *tool.Requester, kind, plugin, name string) (*Settings, *catalog.Plugin, error) {
	settings, plugins := o.offering(ctx, who, authz.ToolsCall, kind, plugin)
	if plugin != "" {
		if len(plugins) == 0 {
			return nil, nil, noOffer(kind, plugin)
		}
		return settings, plugins[0], nil
	}
	var found []*catalog.Plugin
	var failed *tool.Error
	for i, l := range o.listsOf(ctx, who, settings, plugins, kind) {
		p := plugins[i]
		if l.err != nil {
			if ctx.Err() != nil {
				return nil, nil, l.err
			}
			failed = l.err
			if l = o.lists.known(listKey{p.Info.Name, p.Digest, kind, who.Principal, who.Session}); l == nil {
				continue
			}
		}
		if l.has(kind, name) {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 1:
		return settings, found[0], nil
	case 0:
		missing := tool.Errorf(tool.KindNotFound, "no plugin offers %.200q", name)
		if failed != nil {
			missing = tool.Errorf(tool.KindUnavailable, "no plugin that can be asked now offers %.200q: %w", name, failed)
		}
		return nil, nil, missing
	default:
		names := make([]string, len(found))
		for i, p := range found {
			names[i] = p.Info.Name
		}
		return nil, nil, tool.Errorf(tool.KindInvalidArgument, "several plugins offer %.200q: %s; name one of them", name, strings.Join(names, ", "))
	}
}

// has reports whether a list has a URI, a template or the name of a prompt.
func (l *offerList) has(kind, name string) bool {
	if kind == ofPrompts {
		return slices.ContainsFunc(l.prompts, func(p tool.Prompt) bool { return p.Name == name })
	}
	return slices.ContainsFunc(l.resources, func(r tool.Resource) bool { return r.URI == name }) ||
		slices.ContainsFunc(l.templates, func(t tool.ResourceTemplate) bool { return t.URITemplate == name }) ||
		slices.ContainsFunc(l.patterns, func(p *uriPattern) bool { return p.matches(name) })
}

// uriPattern matches the URIs that follow a template.
type uriPattern struct{ expression *regexp.Regexp }

// schemed matches a template whose URIs all have one scheme. A template without one would claim the
// URIs of all other plugins.
var schemed = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// maxTemplate bounds a template, whose expression has a size that grows with it.
const maxTemplate = 1 << 10

// newURIPattern returns the pattern of a template; nil if no URI may follow it. The scheme toolhost
// is that of names that toolhost makes itself.
func newURIPattern(text string) *uriPattern {
	if len(text) > maxTemplate || !schemed.MatchString(text) || strings.HasPrefix(strings.ToLower(text), "toolhost:") {
		return nil
	}
	template, err := uritemplate.New(text)
	if err != nil {
		return nil
	}
	return &uriPattern{template.Regexp()}
}

func (p *uriPattern) matches(uri string) bool { return p.expression.MatchString(uri) }
