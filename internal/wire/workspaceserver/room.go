package workspaceserver

import (
	"sync"

	"github.com/toolhost/toolhost/sdk/workspace"
)

// Room bounds the contents that clients make servers hold while they write files. Servers that
// share a parent also share its room, so that the clients of one cannot take that of all. All
// methods are safe for concurrent use.
type Room struct {
	parent *Room // nil: none
	most   int64

	mu   sync.Mutex
	used int64
}

// NewRoom returns room for so many bytes, which are also counted in the parent. A nil parent means
// that there is none.
func NewRoom(bytes int64, parent *Room) *Room { return &Room{parent: parent, most: bytes} }

// take reserves bytes, or refuses.
func (r *Room) take(bytes int64) (release func(), err error) {
	r.mu.Lock()
	full := r.used+bytes > r.most
	if !full {
		r.used += bytes
	}
	r.mu.Unlock()
	if full {
		return nil, refuse(workspace.ErrUnavailable, "files with more than %d bytes in all are being written to the workspace at the same time; try again later", r.most)
	}
	give := func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.used -= bytes
	}
	if r.parent == nil {
		return give, nil
	}
	above, err := r.parent.take(bytes)
	if err != nil {
		give()
		return nil, err
	}
	return func() {
		above()
		give()
	}, nil
}
