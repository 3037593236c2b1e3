// Package offers lists, reads and watches what plugins offer beside tools: resources and prompts.
//
// It owns the lists that plugins gave, and the decision about each request, which the audit log
// gets like one about a call. It does not own which plugins offer something (package catalog),
// their instances (package supervisor), or the path of a call.
package offers

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"time"

	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/secrets"
	"github.com/toolhost/toolhost/server/internal/toolhost/artifact"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/ledger"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/question"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/throttle"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
	"github.com/toolhost/toolhost/tool"
)

// Settings are those in force for a request. They do not change.
type Settings struct {
	Policy         *policy.Policy
	Secrets        *secrets.Store
	Quotas         *throttle.Quotas // nil: nothing bounds what tenants use
	Disabled       func(plugin string) bool
	Asks           func(plugin string) []tool.QuestionKind // nil: nothing
	Questions      question.Limits
	MaxShown       int
	DefaultTimeout time.Duration

	// Record writes a decision to the audit log.
	Record func(ctx context.Context, d audit.Decision) error
}

// Config is what Offers use of the host.
type Config struct {
	Context   context.Context // ends when the host closes
	Spawn     func(f func()) bool
	Catalog   *catalog.Catalog
	View      func() (*Settings, *catalog.Snapshot) // the settings in force, and the snapshot that belongs to them
	Plugins   func() *supervisor.Plugins
	Usage     *throttle.Usage
	Artifacts *artifact.Store // nil: large content stays whole
	Logger    *slog.Logger
}

// Offers list, read and watch the resources and prompts of plugins.
// docs/adr/0032-mcp-servers.md describes the rules.
type Offers struct {
	cfg      Config
	lists    *offerLists
	followed *followed
}

// New returns Offers that have no lists yet.
func New(cfg Config) *Offers {
	return &Offers{cfg: cfg, lists: newOfferLists(), followed: newFollowed()}
}

// The two kinds of what plugins offer. Rules, bindings and the audit log see the kind behind the
// name of the plugin and a colon, where they see the name of a tool.
const (
	ofResources = "resources"
	ofPrompts   = "prompts"
)

// has reports whether a plugin offers something of a kind.
func has(p *catalog.Plugin, kind string) bool {
	if kind == ofPrompts {
		return p.Info.Offers.Prompts
	}
	return p.Info.Offers.Resources
}

// offering returns the plugins in service that offer something of a kind and that the requester may
// use with a right, ordered by name. If plugin is not empty, they are that plugin or none.
func (o *Offers) offering(ctx context.Context, who *tool.Requester, right authz.Right, kind, plugin string) (*Settings, []*catalog.Plugin) {
	settings, snapshot := o.cfg.View()
	caller := authz.FromContext(ctx)
	var found []*catalog.Plugin
	for _, p := range snapshot.Plugins() {
		if p.Problem != "" || !has(p, kind) || plugin != "" && p.Info.Name != plugin || settings.Disabled(p.Info.Name) {
			continue
		}
		if caller.MayUse(right, who.Principal, who.Groups, p.Info.Name+":"+kind) {
			found = append(found, p)
		}
	}
	return settings, found
}

// ListResources returns the resources of the plugins that the requester may use, ordered by plugin
// and URI. It may start instances. Errors: invalid_argument, not_found.
func (o *Offers) ListResources(ctx context.Context, q tool.ResourceQuery) (tool.Resources, error) {
	lists, unlisted, err := o.list(ctx, &q, ofResources)
	if err != nil {
		return tool.Resources{}, err
	}
	all := tool.Resources{Resources: []tool.Resource{}, Unlisted: unlisted}
	for _, l := range lists {
		all.Resources = append(all.Resources, l.resources...)
	}
	return all, nil
}

// ListResourceTemplates returns the templates of the plugins that the requester may use, ordered by
// plugin and template. It may start instances. Errors: invalid_argument, not_found.
func (o *Offers) ListResourceTemplates(ctx context.Context, q tool.ResourceQuery) (tool.ResourceTemplates, error) {
	lists, unlisted, err := o.list(ctx, &q, ofResources)
	if err != nil {
		return tool.ResourceTemplates{}, err
	}
	all := tool.ResourceTemplates{Templates: []tool.ResourceTemplate{}, Unlisted: unlisted}
	for _, l := range lists {
		all.Templates = append(all.Templates, l.templates...)
	}
	return all, nil
}

// list returns the lists of all plugins that a query selects, and the plugins that have none.
func (o *Offers) list(ctx context.Context, q *tool.ResourceQuery, kind string) ([]*offerList, []tool.Unlisted, error) {
	if err := ledger.CheckSession(q.Session); err != nil {
		return nil, nil, err
	}
	settings, plugins := o.offering(ctx, &q.Requester, authz.ToolsList, kind, q.Plugin)
	if len(plugins) == 0 && q.Plugin != "" {
		return nil, nil, noOffer(kind, q.Plugin)
	}
	var lists []*offerList
	var unlisted []tool.Unlisted
	for i, l := range o.listsOf(ctx, &q.Requester, settings, plugins, kind) {
		if ctx.Err() != nil {
			return nil, nil, tool.AsError(context.Cause(ctx))
		}
		if l.err != nil {
			unlisted = append(unlisted, tool.Unlisted{Plugin: plugins[i].Info.Name, Reason: l.err.Message})
			continue
		}
		lists = append(lists, l)
	}
	return lists, unlisted, nil
}

// noOffer is the error for a plugin that offers nothing of a kind. A plugin that the requester may
// not use gets the same words.
func noOffer(kind, plugin string) *tool.Error {
	return tool.Errorf(tool.KindNotFound, "there is no plugin %.80q with %s here", plugin, kind)
}

// ReadResource returns the content of a resource. Content that is too large for the answer becomes
// an artifact of the requester. Errors: invalid_argument, not_found, denied, and those of calls.
func (o *Offers) ReadResource(ctx context.Context, r tool.ResourceRead) (tool.ResourceContents, error) {
	if err := checkURI(r.URI); err != nil {
		return tool.ResourceContents{}, err
	}
	if err := ledger.CheckSession(r.Session); err != nil {
		return tool.ResourceContents{}, err
	}
	settings, p, err := o.owner(ctx, &r.Requester, ofResources, r.Plugin, r.URI)
	if err != nil {
		return tool.ResourceContents{}, err
	}
	arguments, _ := json.Marshal(map[string]string{"uri": r.URI}) // a text can be encoded
	if err := o.authorize(ctx, &r.Requester, settings, p, ofResources, arguments); err != nil {
		return tool.ResourceContents{}, err
	}
	var parts []tool.ResourceContent
	err = o.ask(ctx, &r.Requester, settings, p, func(ctx context.Context, conn pluginconn.Conn, of pluginconn.Asker) (err error) {
		resources, ok := conn.(pluginconn.Resources)
		if !ok {
			return noOffer(ofResources, p.Info.Name)
		}
		parts, err = resources.ReadResource(ctx, of, r.URI)
		return err
	})
	if err != nil {
		return tool.ResourceContents{}, err
	}
	blocks := make([]*tool.Content, len(parts))
	for i := range parts {
		parts[i].URI = settings.Secrets.Redactor().Text(parts[i].URI)
		blocks[i] = &parts[i].Content
	}
	o.shape(&r.Requester, settings, cmp.Or(r.MaxShown, settings.MaxShown), blocks)
	return tool.ResourceContents{Plugin: p.Info.Name, Parts: parts}, nil
}

// maxURI bounds the URIs that callers send and plugins list.
const maxURI = 8 << 10

func checkURI(uri string) error {
	if uri == "" || len(uri) > maxURI {
		return tool.Errorf(tool.KindInvalidArgument, "the URI must have 1 to %d bytes, not %d", maxURI, len(uri))
	}
	return nil
}

// sortLists orders the entries of a list and names their plugin.
func (l *offerList) sort(plugin string) {
	for i := range l.resources {
		l.resources[i].Plugin = plugin
	}
	for i := range l.templates {
		l.templates[i].Plugin = plugin
	}
	for i := range l.prompts {
		l.prompts[i].Plugin = plugin
	}
	slices.SortStableFunc(l.resources, func(a, b tool.Resource) int { return cmp.Compare(a.URI, b.URI) })
	slices.SortStableFunc(l.templates, func(a, b tool.ResourceTemplate) int { return cmp.Compare(a.URITemplate, b.URITemplate) })
	slices.SortStableFunc(l.prompts, func(a, b tool.Prompt) int { return cmp.Compare(a.Name, b.Name) })
}
