package host

import (
	"container/list"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/tool"
)

const (
	// descriptionAge is how long an answer is valid. The contract has no message with which a
	// plugin could report that its answer is outdated.
	descriptionAge = time.Minute
	// failureAge is the time for which the host does not ask a plugin again that did not answer.
	// Otherwise the plugin would delay every list of tools.
	failureAge = 10 * time.Second
	// maxDescriptions and maxDescriptionBytes bound the cache. The least recently used entries go
	// first.
	maxDescriptions     = 10_000
	maxDescriptionBytes = 64 << 20
)

// descriptions caches how plugins describe their dynamic tools, for each session. All methods are
// safe for concurrent use.
type descriptions struct {
	mu      sync.Mutex
	entries map[descriptionKey]*list.Element // of *description
	used    *list.List                       // the most recently used last
	bytes   int
}

func newDescriptions() *descriptions {
	return &descriptions{entries: map[descriptionKey]*list.Element{}, used: list.New()}
}

// descriptionKey is a digest of all that an answer may depend on, so that long texts make no long
// keys.
type descriptionKey [sha256.Size]byte

// description is how one plugin describes its dynamic tools for one session.
type description struct {
	key  descriptionKey
	done chan struct{} // closed once there is an answer, or the plugin has failed

	// Guarded by descriptions.mu. Once done is closed, tools and sum may be read without the lock.
	tools map[string]*catalog.Tool // by declared name; a missing tool is as the plugin declares it
	sum   string                   // a digest of what callers see of tools
	until time.Time                // the end of its validity; zero: there is no answer yet
	bytes int
}

// get returns the entry of a key. If first is true, the entry is new, and the caller must make sure
// that settle is called.
func (c *descriptions) get(key descriptionKey) (d *description, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[key]; e != nil {
		d := e.Value.(*description)
		if d.until.IsZero() || time.Now().Before(d.until) {
			c.used.MoveToBack(e)
			return d, false
		}
		c.removeLocked(e)
	}
	d = &description{key: key, done: make(chan struct{})}
	c.entries[key] = c.used.PushBack(d)
	c.shrinkLocked()
	return d, true
}

// settle stores the tools that a plugin described in its entry, and wakes the callers that wait for
// the entry. If err is not nil, the entry has no tools and is valid for failureAge only.
func (c *descriptions) settle(d *description, tools map[string]*catalog.Tool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer close(d.done)
	age := descriptionAge
	if err != nil {
		age = failureAge
	}
	d.tools, d.sum, d.until = tools, sumOf(tools), time.Now().Add(age)
	if e := c.entries[d.key]; e == nil || e.Value != d {
		return // the cache has removed the entry to make room
	}
	for _, t := range tools {
		d.bytes += sizeOf(&t.Spec)
	}
	c.bytes += d.bytes
	c.shrinkLocked()
}

func (c *descriptions) shrinkLocked() {
	for c.used.Len() > maxDescriptions || c.bytes > maxDescriptionBytes {
		c.removeLocked(c.used.Front())
	}
}

func (c *descriptions) removeLocked(e *list.Element) {
	d := c.used.Remove(e).(*description)
	c.bytes -= d.bytes
	delete(c.entries, d.key)
}

// sizeOf returns the approximate memory that the description of a tool takes, in bytes.
func sizeOf(s *tool.Spec) int {
	size := len(s.DisplayName) + len(s.Description) + len(s.InputSchema) + len(s.OutputSchema)
	for _, e := range s.InputExamples {
		size += len(e.Description) + len(e.Arguments)
	}
	return size
}
