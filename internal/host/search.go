package host

import (
	"sync"

	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/internal/toolsearch"
	"github.com/toolhost/toolhost/tool"
)

// search keeps the index of the newest snapshot that was searched. The zero value is ready.
type search struct {
	mu     sync.Mutex
	newest *indexed
}

// indexed is a snapshot with its index.
type indexed struct {
	snapshot *catalog.Snapshot
	once     sync.Once
	tools    []*catalog.Tool // all, ordered by name
	words    *toolsearch.Index
}

// of returns the index of what the catalog holds now. The first caller builds it, which takes half a second for 10,000 tools;
// other callers of the same snapshot wait for that.
func (s *search) of(c *catalog.Catalog) *indexed {
	s.mu.Lock()
	if snapshot := c.Snapshot(); s.newest == nil || s.newest.snapshot != snapshot {
		s.newest = &indexed{snapshot: snapshot}
	}
	x := s.newest
	s.mu.Unlock()
	x.once.Do(x.build)
	return x
}

func (x *indexed) build() {
	x.tools = x.snapshot.Tools(tool.Query{})
	infos := make([]tool.Info, len(x.tools))
	for i, t := range x.tools {
		infos[i] = t.Info()
	}
	x.words = toolsearch.New(infos)
}

// indexCatalog builds the index whenever the catalog has changed and no plugin is being asked any more, so that searches find
// it built. It is a goroutine of the host and ends with it.
func (h *Host) indexCatalog() {
	for {
		if h.cfg.Catalog.Settle(h.ctx) != nil {
			return
		}
		built := h.search.of(h.cfg.Catalog)
		if _, err := h.cfg.Catalog.Next(h.ctx, built.snapshot); err != nil {
			return
		}
	}
}
