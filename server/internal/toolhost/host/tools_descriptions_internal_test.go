package host

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/tool"
)

func describing(size int) map[string]*catalog.Tool {
	return map[string]*catalog.Tool{"t": {Spec: tool.Spec{Description: strings.Repeat("x", size)}}}
}

// The cache is bounded by count and by bytes, and removes the least recently used entries.
func TestDescriptionsAreBounded(t *testing.T) {
	for name, test := range map[string]struct{ size, most int }{
		"count": {1, maxDescriptions},
		"bytes": {maxDescriptionBytes / 8, 8},
	} {
		t.Run(name, func(t *testing.T) {
			c := newDescriptions()
			key := func(n int) (k descriptionKey) {
				binary.BigEndian.PutUint64(k[:], uint64(n))
				return k
			}
			answer := describing(test.size)
			for n := range 2 * test.most {
				d, first := c.get(key(n))
				if !first {
					t.Fatalf("entry %d is there before it was asked for", n)
				}
				c.settle(d, answer, nil)
				if _, first := c.get(key(0)); first {
					t.Fatalf("the entry that is used all the time is gone at %d", n)
				}
			}
			if c.used.Len() != test.most || len(c.entries) != test.most || c.bytes != test.most*test.size {
				t.Errorf("%d entries, %d keys, %d bytes", c.used.Len(), len(c.entries), c.bytes)
			}
		})
	}
}

// An answer that arrives after its entry was removed reaches the waiting callers, and is not kept.
func TestAnAnswerThatComesTooLateForItsEntry(t *testing.T) {
	c := newDescriptions()
	d, _ := c.get(descriptionKey{1})
	c.mu.Lock()
	c.removeLocked(c.entries[d.key])
	c.mu.Unlock()
	again, first := c.get(descriptionKey{1})
	c.settle(d, describing(3), nil)
	<-d.done
	if !first || again == d || len(d.tools) != 1 || c.bytes != 0 || len(again.tools) != 0 {
		t.Errorf("first %v, the late answer has %d tools, %d bytes are kept", first, len(d.tools), c.bytes)
	}
}
