package offers

import (
	"container/list"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

const (
	// listAge is how long a list is used. A plugin need not tell that its list has changed.
	listAge = time.Minute
	// maxLists and maxListsBytes bound the lists of all plugins and requesters together.
	maxLists      = 1_000
	maxListsBytes = 64 << 20
)

// offerList is what one plugin offers to one requester.
type offerList struct {
	done      chan struct{} // closed when the list is complete; the other fields are valid then
	conn      pluginconn.Conn
	made      time.Time
	resources []tool.Resource
	templates []tool.ResourceTemplate
	patterns  []*uriPattern // of templates, without those that no URI may follow
	prompts   []tool.Prompt
	size      int // in bytes
	err       *tool.Error
	stale     atomic.Bool // the plugin told of a change, perhaps before the list was complete
}

// listKey names a list. The plugin can make different lists for different principals and sessions.
type listKey struct{ plugin, digest, kind, principal, session string }

// offerLists remembers lists. A list is current until the plugin tells of a change, its instance
// ends, or it is older than listAge. Several requests that need the same list wait for one. All
// methods are safe for concurrent use.
type offerLists struct {
	mu    sync.Mutex
	lists map[listKey]*list.Element // of offerEntry
	ages  list.List                 // the entry that was used least recently is the first
	bytes int
}

type offerEntry struct {
	key  listKey
	list *offerList
	// last is the list before, which decides about the owner of a URI while the plugin cannot be
	// asked.
	last *offerList
}

func newOfferLists() *offerLists { return &offerLists{lists: map[listKey]*list.Element{}} }

// get returns the list of a key. first reports that the caller has to make it, and to call settle.
func (l *offerLists) get(key listKey) (found *offerList, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.lists[key]
	if at == nil {
		at = l.ages.PushBack(&offerEntry{key: key})
		l.lists[key] = at
	}
	l.ages.MoveToBack(at)
	e := at.Value.(*offerEntry)
	if e.list != nil && e.list.current() {
		return e.list, false
	}
	if e.list != nil && e.list.err == nil {
		if e.last != nil {
			l.bytes -= e.last.size
		}
		e.last = e.list
	}
	e.list = &offerList{done: make(chan struct{})}
	l.evictLocked()
	return e.list, true
}

// current reports whether a list is being made, or can still be used. A failure is not kept.
func (l *offerList) current() bool {
	select {
	case <-l.done:
	default:
		return true
	}
	if l.err != nil || l.stale.Load() || time.Since(l.made) >= listAge {
		return false
	}
	select {
	case <-l.conn.Done():
		return false
	default:
		return true
	}
}

// settle says that a list is complete.
func (l *offerLists) settle(made *offerList) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bytes += made.size
	close(made.done)
	l.evictLocked()
}

// evictLocked removes lists that were not used for the longest time, while there are too many.
func (l *offerLists) evictLocked() {
	for at := l.ages.Front(); at != nil && (l.ages.Len() > maxLists || l.bytes > maxListsBytes); {
		next := at.Next()
		if e := at.Value.(*offerEntry); e.list.settled() {
			l.removeLocked(at)
		}
		at = next
	}
}

func (l *offerList) settled() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

func (l *offerLists) removeLocked(at *list.Element) {
	e := at.Value.(*offerEntry)
	if e.list.err == nil {
		l.bytes -= e.list.size
	}
	if e.last != nil {
		l.bytes -= e.last.size
	}
	delete(l.lists, e.key)
	l.ages.Remove(at)
}

// known returns the list before the current one; nil if there is none.
func (l *offerLists) known(key listKey) *offerList {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := l.lists[key]; at != nil {
		return at.Value.(*offerEntry).last
	}
	return nil
}

// expire makes the lists of a kind old that came over a connection of a plugin, or may come over
// it.
func (l *offerLists) expire(conn pluginconn.Conn, plugin, kind string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for at := l.ages.Front(); at != nil; at = at.Next() {
		e := at.Value.(*offerEntry)
		if e.key.kind == kind && e.key.plugin == plugin && e.list != nil && (!e.list.settled() || e.list.conn == conn) {
			e.list.stale.Store(true)
		}
	}
}

// listsOf returns the lists of plugins, in their order. Each is complete, or has an error, unless
// ctx has ended.
func (o *Offers) listsOf(ctx context.Context, who *tool.Requester, settings *Settings, plugins []*catalog.Plugin, kind string) []*offerList {
	lists := make([]*offerList, len(plugins))
	for i, p := range plugins { // ask all plugins before waiting for one
		key := listKey{p.Info.Name, p.Digest, kind, who.Principal, who.Session}
		l, first := o.lists.get(key)
		lists[i] = l
		if first && !o.cfg.Spawn(func() { o.makeList(l, *who, settings, p, kind) }) { // ends with the time limit of a request, or with the host
			l.err = tool.Errorf(tool.KindUnavailable, "%w", supervisor.ErrStopping)
			o.lists.settle(l)
		}
	}
	for i, l := range lists {
		select {
		case <-l.done:
		case <-ctx.Done():
			lists[i] = &offerList{err: tool.AsError(context.Cause(ctx))}
		}
	}
	return lists
}

// makeList asks a plugin for a list, in the time of the host: several requesters may wait for it.
func (o *Offers) makeList(l *offerList, who tool.Requester, settings *Settings, p *catalog.Plugin, kind string) {
	defer o.lists.settle(l)
	err := o.ask(o.cfg.Context, &who, settings, p, func(ctx context.Context, conn pluginconn.Conn, of pluginconn.Asker) (err error) {
		l.conn, l.made = conn, time.Now() // a change from now on is not in the list
		if kind == ofPrompts {
			prompts, ok := conn.(pluginconn.Prompts)
			if !ok {
				return noOffer(kind, p.Info.Name)
			}
			l.prompts, err = prompts.ListPrompts(ctx, of)
			return err
		}
		resources, ok := conn.(pluginconn.Resources)
		if !ok {
			return noOffer(kind, p.Info.Name)
		}
		if l.resources, err = resources.ListResources(ctx, of); err == nil {
			l.templates, err = resources.ListResourceTemplates(ctx, of)
		}
		return err
	})
	if err != nil {
		l.err = tool.AsError(err)
		l.resources, l.templates, l.prompts, l.size = nil, nil, nil, 0
		return
	}
	l.redact(settings.Secrets.Redactor().Text)
	l.sort(p.Info.Name)
	for i := range l.templates {
		if pattern := newURIPattern(l.templates[i].URITemplate); pattern != nil {
			l.patterns = append(l.patterns, pattern)
		}
	}
}

// redact removes secrets from all texts, and counts the bytes of the list.
func (l *offerList) redact(clean func(string) string) {
	texts := func(all ...*string) {
		for _, text := range all {
			*text = clean(*text)
			l.size += len(*text) + 16
		}
	}
	for i := range l.resources {
		r := &l.resources[i]
		texts(&r.URI, &r.Name, &r.Title, &r.Description, &r.MediaType)
	}
	for i := range l.templates {
		t := &l.templates[i]
		texts(&t.URITemplate, &t.Name, &t.Title, &t.Description, &t.MediaType)
	}
	for i := range l.prompts {
		p := &l.prompts[i]
		texts(&p.Name, &p.Title, &p.Description)
		for j := range p.Arguments {
			a := &p.Arguments[j]
			texts(&a.Name, &a.Title, &a.Description)
		}
	}
}
