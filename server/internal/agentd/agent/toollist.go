package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

// mostListed bounds the tools in the lists that an agent keeps for its runs. It is enough for a few
// lists of the largest known toolhosts, at about 2 kB for each tool. A larger list is kept by its
// run only.
const mostListed = 50_000

// toolLists has the last lists of tools that toolhost returned, for all runs of an agent. Most runs
// have the same list, turn after turn, so it is transferred, decoded and stored once. The zero
// value is ready for use. It is safe for concurrent use.
type toolLists struct {
	mu    sync.Mutex
	lists map[string]revised // by listKey
	tools int                // in lists
}

// revised is a list of tools that does not change, and its revision; "": it has none.
type revised struct {
	infos    []tool.Info
	revision string
}

// listKey returns what an answer to a query may depend on, without the session and the context: for
// two of these, toolhost returns two revisions if the answers differ.
func listKey(principal string, groups []string, query tool.Query) string {
	query.Session, query.Context = "", nil
	key, err := json.Marshal([]any{principal, groups, query})
	if err != nil {
		return "" // no list is kept
	}
	return string(key)
}

func (l *toolLists) get(key string) revised {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lists[key]
}

// keep replaces the list of a key. Other ones give way if there are too many.
func (l *toolLists) keep(key string, list revised) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if key == "" || list.revision == "" || len(list.infos) > mostListed {
		return
	}
	l.removeLocked(key)
	for other := range l.lists {
		if l.tools+len(list.infos)+len(l.lists) < mostListed { // empty lists count, too
			break
		}
		l.removeLocked(other)
	}
	if l.lists == nil {
		l.lists = map[string]revised{}
	}
	l.lists[key], l.tools = list, l.tools+len(list.infos)
}

func (l *toolLists) removeLocked(key string) {
	l.tools -= len(l.lists[key].infos)
	delete(l.lists, key)
}

// listTools returns the tools that match the query of a run. The list of an earlier request, also
// one of another run, is used again if it is still right.
func (r *run) listTools(ctx context.Context, started *loop.RunStarted, query tool.Query) (revised, error) {
	changed := r.config.ListChangedTools
	if changed == nil {
		infos, err := r.config.Tools.ListTools(ctx, query)
		return revised{infos: infos}, err
	}
	key := listKey(started.Principal, started.Groups, query)
	known := r.agent.lists.get(key)
	infos, revision, err := changed(ctx, query, known.revision)
	switch {
	case err != nil:
		return revised{}, err
	case revision != "" && revision == known.revision:
		return known, nil
	}
	list := revised{infos, revision}
	r.agent.lists.keep(key, list)
	return list, nil
}

// offer is the tools that a run may use. Only its cache changes. It is safe for concurrent use.
type offer struct {
	tools []tool.Info // ordered by name

	// from is the list that the tools are from, and filter the configuration that selected them.
	revision string
	config   *configured

	mu    sync.Mutex
	shown *shownTools // the last ones; nil: none
}

// shownTools is what a request shows of an offer to the model.
type shownTools struct {
	found   []string // the tools that searches had found
	visible []tool.Info
	system  []tool.Spec
}

// newOffer returns the tools of a list that the run may use.
func newOffer(list revised, started *loop.RunStarted, config *configured) *offer {
	o := &offer{tools: list.infos, revision: list.revision, config: config}
	refused := func(info tool.Info) bool { return !started.Permits(&info) || !config.tools.admits(&info) }
	byName := func(a, b tool.Info) int { return strings.Compare(a.Spec.Name, b.Spec.Name) }
	if slices.ContainsFunc(o.tools, refused) {
		o.tools = slices.DeleteFunc(slices.Clone(o.tools), refused)
	}
	if !slices.IsSortedFunc(o.tools, byName) {
		o.tools = slices.Clone(o.tools)
		slices.SortFunc(o.tools, byName)
	}
	return o
}

// is reports whether the offer is what newOffer would return for a list.
func (o *offer) is(list revised, config *configured) bool {
	return o != nil && list.revision != "" && o.revision == list.revision && o.config == config
}

// list returns the tools. It returns none for a nil offer.
func (o *offer) list() []tool.Info {
	if o == nil {
		return nil
	}
	return o.tools
}

// find returns the declaration of a tool, or nil.
func (o *offer) find(name string) *tool.Info {
	infos := o.list()
	i, found := slices.BinarySearchFunc(infos, name, func(info tool.Info, name string) int { return strings.Compare(info.Spec.Name, name) })
	if !found {
		return nil
	}
	return &infos[i]
}

// show returns what a request shows after searches have found some tools.
func (o *offer) show(started *loop.RunStarted, found []string) *shownTools {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.shown == nil || !slices.Equal(o.shown.found, found) {
		o.shown = &shownTools{slices.Clone(found), started.VisibleTools(o.tools, found), started.OfferedSystemTools(o.tools)}
	}
	return o.shown
}
