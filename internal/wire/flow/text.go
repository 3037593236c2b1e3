package flow

import "slices"

// blockBytes is the size of a block of a Text.
const blockBytes = 64 << 10

// Text collects text that arrives in pieces. It stores the text in blocks, because a growing slice
// copies its whole content repeatedly, and the runtime cannot preempt such a copy. The zero Text is
// empty. A Text is not safe for concurrent use.
type Text struct {
	first []byte
	more  [][]byte // after first
	size  int
}

// TextOf returns a Text that begins with b. The Text keeps b and does not change it.
func TextOf(b []byte) Text { return Text{first: slices.Clip(b), size: len(b)} }

// Len returns the length in bytes.
func (t *Text) Len() int { return t.size }

// Append appends a copy of b.
func (t *Text) Append(b []byte) {
	t.size += len(b)
	for len(b) > 0 {
		last := &t.first
		if n := len(t.more); n > 0 {
			last = &t.more[n-1]
		}
		if len(*last) >= blockBytes {
			t.more = append(t.more, nil)
			continue
		}
		n := min(len(b), blockBytes-len(*last))
		*last = append(*last, b[:n]...)
		b = b[n:]
	}
}

// Blocks returns the text in non-empty parts, which belong to the Text.
func (t *Text) Blocks() [][]byte {
	if len(t.first) == 0 {
		return nil // a later block exists only if the first is full
	}
	return append([][]byte{t.first}, t.more...)
}

// Take returns the whole text and empties the Text. It copies the text only if it has more than one
// block.
func (t *Text) Take() []byte {
	whole := t.first
	if len(t.more) > 0 {
		whole = make([]byte, 0, t.size)
		for _, b := range t.Blocks() {
			whole = append(whole, b...)
		}
	}
	*t = Text{}
	return whole
}
