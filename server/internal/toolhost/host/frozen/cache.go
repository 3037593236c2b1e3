// Package frozen keeps the final arguments of calls that wait for a person's approval.
package frozen

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/text/arguments"
)

const (
	// maxEntries and maxBytes bound the cache. If an entry does not fit any more, the host computes
	// the arguments again when the approval arrives.
	maxEntries = 10_000
	maxBytes   = 32 << 20
	// maxAge is how long an entry is valid. It is the time that agentd gives a person for an
	// approval.
	maxAge = 24 * time.Hour
)

// Arguments are the final arguments of a call, after filters, repairs and defaults. The policy
// decides on them, a person approves them, and the plugin executes them. The host does not change
// them in between.
type Arguments struct {
	Final   arguments.Parsed
	Repairs []byte   // the metadata about repairs, in JSON; nil: there were none
	Filters []string // the names of the filters that changed the arguments
}

// Key identifies final arguments. It consists of the caller's session, the digests of the sent and
// of the final arguments, and everything else on which the final arguments depend. The call id is
// not part of it: a caller may repeat a call under the id of a new attempt, as agentd does.
type Key struct {
	Principal, Session string
	Submitted          [sha256.Size]byte // of the tool and the sent arguments
	Final              [sha256.Size]byte // the digest of the final arguments
	Revision           string            // of the plugin: another revision may have other defaults
	Filters            [sha256.Size]byte // the digest of the filters of the call; zero: none
}

// Cache keeps final arguments in memory. With them, the approved repeat of a call executes what the
// person saw, even if the filters would change the arguments differently by then. Use NewCache to
// create a Cache. It is safe for concurrent use.
//
// An entry has a number of uses. Each answer that asks for an approval adds one, and each approved
// call takes one. So a caller that repeats an approved call passes the filters again. A missing
// entry costs only time: the host computes the arguments again, and compares their digest with the
// digest in the approval.
type Cache struct {
	mu      sync.Mutex
	entries map[Key]*entry
	queue   []Key // the oldest first; a key whose entry was removed may still be in it
	bytes   int
}

// entry holds the text of final arguments. The parsed form would take several times as much memory.
type entry struct {
	canonical []byte
	repairs   []byte
	filters   []string
	uses      int
	last      time.Time // when a use was last added
}

// NewCache returns an empty cache.
func NewCache() *Cache { return &Cache{entries: map[Key]*entry{}} }

// Len returns the number of final arguments in the cache. It is about the number of calls that wait
// for an approval.
func (c *Cache) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.entries)
}

// Store adds one use of final arguments. It does nothing if they are too large for the cache.
func (c *Cache) Store(key Key, args Arguments) {
	e := &entry{canonical: args.Final.Canonical(), repairs: args.Repairs, filters: args.Filters, uses: 1, last: time.Now()}
	if e.size() > maxBytes/8 {
		return
	}
	e.canonical = bytes.Clone(e.canonical) // it may be the beginning of a much larger buffer
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.entries[key]; known != nil {
		known.uses, known.last = known.uses+1, e.last
		return
	}
	c.entries[key] = e
	c.bytes += e.size()
	c.queue = append(c.queue, key)
	for len(c.queue) > maxEntries || c.bytes > maxBytes {
		oldest := c.queue[0]
		c.queue = c.queue[1:]
		c.removeLocked(oldest)
	}
}

// Take takes one use of final arguments and returns them; nil if the cache does not have them.
func (c *Cache) Take(key Key) *Arguments {
	e := c.takeEntry(key)
	if e == nil {
		return nil
	}
	final, err := arguments.Parse(e.canonical)
	if err != nil { // cannot happen: Parse made this text
		return nil
	}
	return &Arguments{Final: final, Repairs: e.repairs, Filters: e.filters}
}

func (c *Cache) takeEntry(key Key) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[key]
	if e == nil {
		return nil
	}
	if time.Since(e.last) > maxAge {
		c.removeLocked(key)
		return nil
	}
	if e.uses--; e.uses == 0 {
		c.removeLocked(key)
	}
	return e
}

func (c *Cache) removeLocked(key Key) {
	if e := c.entries[key]; e != nil {
		c.bytes -= e.size()
		delete(c.entries, key)
	}
}

func (e *entry) size() int {
	size := 512 + len(e.canonical) + len(e.repairs)
	for _, name := range e.filters {
		size += len(name)
	}
	return size
}

// Digest returns the digest of final arguments in the form that callers and the audit log use.
func Digest(final arguments.Parsed) string {
	sum := sha256.Sum256(final.Canonical())
	return hex.EncodeToString(sum[:])
}

// IsDigest reports whether a text has the form of a digest.
func IsDigest(text string) bool {
	return len(text) == 2*sha256.Size && strings.Trim(text, "0123456789abcdef") == ""
}

// ParseDigest returns the bytes of a digest; false if the text is none.
func ParseDigest(text string) (sum [sha256.Size]byte, ok bool) {
	if !IsDigest(text) {
		return sum, false
	}
	_, err := hex.Decode(sum[:], []byte(text))
	return sum, err == nil
}
