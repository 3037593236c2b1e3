package offers

import (
	"context"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/ledger"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

const (
	maxWatched = 100 // single resources of a watch
	// subscribeAgain and subscribeLatest are the pauses before a plugin that failed is asked again.
	subscribeAgain  = time.Second
	subscribeLatest = time.Minute
)

// followed passes the notices of connections to watches, and makes lists old. A connection is
// followed from its launch to its end.
type followed struct {
	mu      sync.Mutex
	conns   map[pluginconn.Conn]bool
	watches map[*resourceWatch]struct{}
}

func newFollowed() *followed {
	return &followed{conns: map[pluginconn.Conn]bool{}, watches: map[*resourceWatch]struct{}{}}
}

// Following returns a supervisor.LaunchFunc that launches with another one, and follows the
// connections of plugins with resources or prompts for o.
func Following(o *Offers, launch supervisor.LaunchFunc) supervisor.LaunchFunc {
	return func(ctx context.Context, p *catalog.Plugin, instance string) (supervisor.Process, error) {
		proc, err := launch(ctx, p, instance)
		if err == nil && (p.Info.Offers != tool.Offers{}) {
			o.followed.follow(o, proc.Conn(), p.Info.Name, supervisor.LaunchOwner(ctx).Tenant)
		}
		return proc, err
	}
}

// follow follows a connection that an instance of a tenant has.
func (f *followed) follow(o *Offers, conn pluginconn.Conn, plugin, tenant string) {
	noticing, ok := conn.(pluginconn.Noticing)
	if !ok {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.conns[conn] {
		return
	}
	stop := noticing.Notice(func(change tool.ResourceChange) {
		if change.Resources {
			o.lists.expire(conn, plugin, ofResources)
		}
		if change.Prompts {
			o.lists.expire(conn, plugin, ofPrompts)
		}
		if change.Resources || change.Prompts {
			f.tell(plugin, tenant, change)
		}
	})
	f.conns[conn] = o.cfg.Spawn(func() { // ends with the connection, or with the host
		select {
		case <-conn.Done():
		case <-o.cfg.Context.Done():
		}
		stop()
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.conns, conn)
	})
}

// tell passes the change of a list to the watches of the tenant. The notice says nothing about for
// whom the instance works: a watch learns only that it may list again.
func (f *followed) tell(plugin, tenant string, change tool.ResourceChange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for w := range f.watches {
		if w.tenant == tenant && (w.plugin == "" || w.plugin == plugin) {
			w.add(tool.ResourceChange{Plugin: plugin, Resources: change.Resources, Prompts: change.Prompts})
		}
	}
}

// resourceWatch is a watch and what it has not read yet. Changes that are not read are merged, so
// that a watch that does not read takes no more memory than the names of what it watches.
type resourceWatch struct {
	plugin string
	tenant string
	// may reports whether the requester may still know of a change; a reload can take a role away.
	may func(plugin string, change tool.ResourceChange) bool

	mu      sync.Mutex
	changed map[string]tool.ResourceChange // by plugin and URI
	wake    chan struct{}                  // of capacity 1
}

func (w *resourceWatch) add(change tool.ResourceChange) {
	key := change.Plugin + "\x00" + change.URI
	w.mu.Lock()
	before := w.changed[key]
	change.Resources, change.Prompts = change.Resources || before.Resources, change.Prompts || before.Prompts
	w.changed[key] = change
	w.mu.Unlock()
	w.signal()
}

func (w *resourceWatch) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// take returns the changes that were not read, in the order of their names.
func (w *resourceWatch) take() []tool.ResourceChange {
	w.mu.Lock()
	defer w.mu.Unlock()
	changes := make([]tool.ResourceChange, 0, len(w.changed))
	for _, key := range slices.Sorted(maps.Keys(w.changed)) {
		changes = append(changes, w.changed[key])
	}
	clear(w.changed)
	return changes
}

// WatchResources returns notices of changes. The first one is empty: from then on, no change is
// missed. It ends without an error when the host closes; if ctx ends, the last element is an error.
// Errors: those of ReadResource, for a single resource.
func (o *Offers) WatchResources(ctx context.Context, q tool.ResourceWatch) iter.Seq2[tool.ResourceChange, error] {
	return func(yield func(tool.ResourceChange, error) bool) {
		targets, err := o.targets(ctx, &q)
		if err != nil {
			yield(tool.ResourceChange{}, err)
			return
		}
		w := &resourceWatch{plugin: q.Plugin, tenant: identity.TenantOf(q.Principal), changed: map[string]tool.ResourceChange{}, wake: make(chan struct{}, 1)}
		w.may = func(plugin string, change tool.ResourceChange) bool {
			may := func(right authz.Right, kind string) bool {
				return authz.FromContext(ctx).MayUse(right, q.Principal, q.Groups, plugin+":"+kind)
			}
			if change.URI != "" {
				return may(authz.ToolsCall, ofResources)
			}
			return change.Resources && may(authz.ToolsList, ofResources) || change.Prompts && may(authz.ToolsList, ofPrompts)
		}
		o.followed.mu.Lock()
		o.followed.watches[w] = struct{}{}
		o.followed.mu.Unlock()
		watching, stop := context.WithCancel(ctx)
		var subscriptions sync.WaitGroup
		defer func() {
			stop()
			subscriptions.Wait()
			o.followed.mu.Lock()
			defer o.followed.mu.Unlock()
			delete(o.followed.watches, w)
		}()
		for _, t := range targets {
			begun := make(chan error, 1)
			subscriptions.Go(func() { o.subscribe(watching, w, &q.Requester, t, begun) }) // ends with the watch
			if err := <-begun; err != nil {
				yield(tool.ResourceChange{}, err)
				return
			}
		}
		o.deliver(ctx, w, yield)
	}
}

// deliver passes the changes of a watch on, until it ends.
func (o *Offers) deliver(ctx context.Context, w *resourceWatch, yield func(tool.ResourceChange, error) bool) {
	if !yield(tool.ResourceChange{}, nil) {
		return
	}
	for {
		select {
		case <-w.wake:
		case <-o.cfg.Context.Done():
			return
		case <-ctx.Done():
			yield(tool.ResourceChange{}, tool.AsError(context.Cause(ctx)))
			return
		}
		for _, change := range w.take() {
			if w.may(change.Plugin, change) && !yield(change, nil) {
				return
			}
		}
	}
}

// target is a single resource of a watch.
type target struct {
	settings *Settings
	plugin   *catalog.Plugin
	uri      string
}

// targets returns the single resources of a watch that its requester may read.
func (o *Offers) targets(ctx context.Context, q *tool.ResourceWatch) ([]target, error) {
	if err := ledger.CheckSession(q.Session); err != nil {
		return nil, err
	}
	if len(q.Resources) > maxWatched {
		return nil, tool.Errorf(tool.KindInvalidArgument, "a watch may have %d resources, not %d", maxWatched, len(q.Resources))
	}
	var targets []target
	for _, ref := range q.Resources {
		if err := checkURI(ref.URI); err != nil {
			return nil, err
		}
		settings, p, err := o.owner(ctx, &q.Requester, ofResources, ref.Plugin, ref.URI)
		if err != nil {
			return nil, err
		}
		arguments, _ := json.Marshal(map[string]string{"uri": ref.URI})
		if err := o.authorize(ctx, &q.Requester, settings, p, ofResources, arguments); err != nil {
			return nil, err
		}
		targets = append(targets, target{settings, p, ref.URI})
	}
	return targets, nil
}

// subscribe keeps a subscription of a resource until ctx ends. It sends the error of the first
// attempt, or nil, to begun. If the instance ends or drains, subscribe subscribes at another one,
// and tells the watch that the resource may have changed meanwhile.
func (o *Offers) subscribe(ctx context.Context, w *resourceWatch, who *tool.Requester, t target, begun chan<- error) {
	for pause := subscribeAgain; ; {
		err := o.subscribeOnce(ctx, w, who, t, func() {
			if begun != nil {
				begun <- nil
				begun = nil
				return
			}
			pause = subscribeAgain
			w.add(tool.ResourceChange{Plugin: t.plugin.Info.Name, URI: t.uri})
		})
		if begun != nil {
			begun <- o.failure(ctx, t.settings, t.plugin, err)
			return
		}
		if err == nil { // the instance drains; the next one takes its place
			pause = 0
		}
		select {
		case <-ctx.Done():
			return
		case <-o.cfg.Context.Done():
			return
		case <-time.After(pause):
		}
		pause = min(max(2*pause, subscribeAgain), subscribeLatest)
		if now := o.cfg.Catalog.Snapshot().Plugin(t.plugin.Info.Name); now != nil && now.Problem == "" {
			t.plugin = now // a newer revision may be in service
		}
	}
}

// subscribeOnce subscribes at one instance, calls begun, and returns when the subscription has
// ended. It holds a lease meanwhile, so that the instance is not idle. It returns nil if the
// instance drains, which would otherwise wait for the lease.
func (o *Offers) subscribeOnce(ctx context.Context, w *resourceWatch, who *tool.Requester, t target, begun func()) error {
	end, err := o.count(ctx, who, t.settings)
	if err != nil {
		return err
	}
	defer end()
	seen := o.cfg.Plugins().Events().Last()
	lease, ctx, release, err := o.lease(ctx, who, t.plugin)
	if err != nil {
		return err
	}
	defer release()
	conn := lease.Instance().Conn()
	resources, ok := conn.(pluginconn.Resources)
	if !ok || !t.plugin.Info.Offers.Subscriptions {
		return tool.Errorf(tool.KindUnsupported, "%q does not tell when a resource changes", t.plugin.Info.Name)
	}
	if noticing, ok := conn.(pluginconn.Noticing); ok {
		defer noticing.Notice(func(change tool.ResourceChange) {
			if change.URI == t.uri {
				w.add(tool.ResourceChange{Plugin: t.plugin.Info.Name, URI: t.uri})
			}
		})()
	}
	of, err := o.asker(who, t.settings, t.plugin)
	if err != nil {
		return err
	}
	asking, cancel := context.WithTimeout(ctx, t.settings.DefaultTimeout)
	unsubscribe, err := resources.Subscribe(asking, of, t.uri)
	cancel()
	if err != nil {
		return err
	}
	defer unsubscribe()
	begun()
	return o.untilDrains(ctx, conn, lease.Instance().ID(), t.plugin.Info.Name, seen)
}

// untilDrains returns nil when an instance drains, and an error when its connection or ctx ends.
func (o *Offers) untilDrains(ctx context.Context, conn pluginconn.Conn, instance, plugin string, after uint64) error {
	for {
		events, changed := o.cfg.Plugins().Events().After(after)
		for _, e := range events {
			after = e.Seq
			if e.Plugin == plugin && e.Instance == instance && (e.Type == string(lifecycle.EventDraining) || e.Type == string(lifecycle.EventStopping)) {
				return nil
			}
		}
		select {
		case <-changed:
		case <-conn.Done():
			return pluginconn.ErrLost
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
