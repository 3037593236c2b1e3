// Package syncbuf has a buffer for the output of a process or of a goroutine that still writes
// while a test reads.
package syncbuf

import (
	"bytes"
	"sync"
)

// Buffer collects what is written. The zero value is empty. All methods are safe for concurrent
// use.
type Buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer. Its error is always nil.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String returns everything that was written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
