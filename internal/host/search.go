package host

import (
	"sync"

	"github.com/toolhost/toolhost/internal/catalog"
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

// of returns what the catalogue holds now. Who comes first makes the index, half a second's work for 10,000 tools, and
// only those wait who search the same snapshot.
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
