package flow

import "slices"

// blockBytes is how long a block of a Text becomes before the next one begins.
const blockBytes = 64 << 10

// Text is text that arrives in pieces. It keeps them in blocks, because a slice that grows copies everything before the new
// piece again and again, and the runtime cannot interrupt such a copy. The zero Text is empty. A Text is for one goroutine at
// a time.
type Text struct {
	first []byte
	more  [][]byte // after first
	size  int
}

// TextOf returns a Text that begins with b. The Text keeps b and does not change it.
func TextOf(b []byte) Text { return Text{first: slices.Clip(b), size: len(b)} }

// Len returns the number of bytes.
func (t *Text) Len() int { return t.size }

// Append adds a copy of b.
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

// Blocks returns the text in parts, none of which is empty. The parts belong to the Text.
func (t *Text) Blocks() [][]byte {
	if len(t.first) == 0 {
		return nil // later blocks begin when the first one is full
	}
	return append([][]byte{t.first}, t.more...)
}

// Take returns the whole text and leaves the Text empty. It copies the text once if that has more than one block.
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
