package host

import (
	"sync"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/toolsearch"
	"github.com/toolhost/toolhost/tool"
)

// searchIndex has the index of the newest snapshot of the catalog that was searched. The zero value
// is ready for use. It is safe for concurrent use.
type searchIndex struct {
	mu     sync.Mutex
	newest *indexedSnapshot
}

// indexedSnapshot is a snapshot with its index.
type indexedSnapshot struct {
	snapshot *catalog.Snapshot
	once     sync.Once
	tools    []*catalog.Tool // all, ordered by name
	words    *toolsearch.Index
}

// of returns the index of the catalog's current content. The first caller builds it, which takes
// half a second for 10,000 tools. Other callers for the same snapshot wait until it is built.
func (s *searchIndex) of(c *catalog.Catalog) *indexedSnapshot {
	s.mu.Lock()
	if snapshot := c.Snapshot(); s.newest == nil || s.newest.snapshot != snapshot {
		s.newest = &indexedSnapshot{snapshot: snapshot}
	}
	x := s.newest
	s.mu.Unlock()
	x.once.Do(x.build)
	return x
}

func (x *indexedSnapshot) build() {
	x.tools = x.snapshot.Tools(tool.Query{})
	infos := make([]tool.Info, len(x.tools))
	for i, t := range x.tools {
		infos[i] = t.Info()
	}
	x.words = toolsearch.New(infos)
}

// indexCatalog builds the index when the catalog has changed and all plugins have described
// themselves, so that a search usually finds it built. It returns when the host closes.
func (l *toolList) indexCatalog() {
	for {
		if l.cfg.Catalog.Settle(l.ctx) != nil {
			return
		}
		built := l.search.of(l.cfg.Catalog)
		if _, err := l.cfg.Catalog.Next(l.ctx, built.snapshot); err != nil {
			return
		}
	}
}
