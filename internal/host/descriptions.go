package host

import (
	"container/list"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/tool"
)

const (
	// descriptionAge is how long an answer counts. Plugins have no way to say that it is outdated.
	descriptionAge = time.Minute
	// failureAge is how long a plugin that did not answer is left alone, so that it does not hold up every listing.
	failureAge = 10 * time.Second
	// maxDescriptions and maxDescriptionBytes bound the answers that are kept; those that were not used for longest go.
	maxDescriptions     = 10_000
	maxDescriptionBytes = 64 << 20
)

// descriptions keeps what plugins said of their dynamic tools, for each session, as long as it counts.
type descriptions struct {
	mu      sync.Mutex
	entries map[descriptionKey]*list.Element // of *description
	used    *list.List                       // the one that was used last is the last
	bytes   int
}

func newDescriptions() *descriptions {
	return &descriptions{entries: map[descriptionKey]*list.Element{}, used: list.New()}
}

// descriptionKey is a sum of all that an answer may depend on. Texts of any length make keys of one.
type descriptionKey [sha256.Size]byte

// description is what one plugin says of its dynamic tools for one session.
type description struct {
	key  descriptionKey
	done chan struct{} // closed once there is an answer, or there will be none

	// Guarded by descriptions.mu; tools may be read once done is closed.
	tools map[string]*catalog.Tool // by the names that the plugin declares; those that are missing stay as declared
	until time.Time                // from when on it does not count; zero: it has no answer yet
	bytes int
}

// get returns the entry of a key. If it is new, first is true, and who called must see that it is settled.
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

// settle gives an entry its answer, or the reason why there is none.
func (c *descriptions) settle(d *description, tools map[string]*catalog.Tool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer close(d.done)
	age := descriptionAge
	if err != nil {
		age = failureAge
	}
	d.tools, d.until = tools, time.Now().Add(age)
	if e := c.entries[d.key]; e == nil || e.Value != d {
		return // it had to go for others
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

// sizeOf returns about how many bytes a session's own description of a tool takes.
func sizeOf(s *tool.Spec) int {
	size := len(s.DisplayName) + len(s.Description) + len(s.InputSchema) + len(s.OutputSchema)
	for _, e := range s.InputExamples {
		size += len(e.Description) + len(e.Arguments)
	}
	return size
}
