package wirecode

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Writer takes a message from its end to its beginning: so the length of what is nested is known when it is to be written,
// and nothing is measured twice. The zero value is empty. It is for one goroutine.
type Writer struct {
	buf []byte
	at  int // of buf, where what is written begins
}

// len returns how many bytes are written.
func (w *Writer) len() int { return len(w.buf) - w.at }

// need makes room for n bytes before what is written. There is, unless the message has changed since it was measured.
func (w *Writer) need(n int) {
	if w.at >= n {
		return
	}
	grown := make([]byte, 2*len(w.buf)+n)
	at := len(grown) - (len(w.buf) - w.at)
	copy(grown[at:], w.buf[w.at:])
	w.buf, w.at = grown, at
}

func (w *Writer) varint(v uint64) {
	n := protowire.SizeVarint(v)
	w.need(n)
	w.at -= n
	at := w.at
	for ; v >= 0x80; v >>= 7 {
		w.buf[at] = byte(v) | 0x80
		at++
	}
	w.buf[at] = byte(v)
}

// Varint writes a field that is a number, a truth value or a word of an enumeration.
func (w *Writer) Varint(tag, v uint64) {
	w.varint(v)
	w.varint(tag)
}

// Bool writes a truth value.
func (w *Writer) Bool(tag uint64, v bool) { w.Varint(tag, protowire.EncodeBool(v)) }

// Fixed64 writes a number of fixed size.
func (w *Writer) Fixed64(tag, v uint64) {
	w.need(8)
	w.at -= 8
	binary.LittleEndian.PutUint64(w.buf[w.at:], v)
	w.varint(tag)
}

// Double writes a floating-point number.
func (w *Writer) Double(tag uint64, v float64) { w.Fixed64(tag, math.Float64bits(v)) }

// Text writes a string. Nobody looks whether it is UTF-8: who makes messages sees to that, and who reads them looks.
func (w *Writer) Text(tag uint64, v string) {
	w.need(len(v))
	w.at -= len(v)
	copy(w.buf[w.at:], v)
	w.varint(uint64(len(v)))
	w.varint(tag)
}

// Bytes writes bytes.
func (w *Writer) Bytes(tag uint64, v []byte) {
	w.Raw(v)
	w.varint(uint64(len(v)))
	w.varint(tag)
}

// Raw writes what is encoded already: fields that this version does not know.
func (w *Writer) Raw(encoded []byte) {
	w.need(len(encoded))
	w.at -= len(encoded)
	copy(w.buf[w.at:], encoded)
}

// Message writes a message that is nested; nil is an empty one.
func (w *Writer) Message(tag uint64, m Message) {
	before := w.len()
	m.WriteWire(w)
	w.varint(uint64(w.len() - before))
	w.varint(tag)
}

// Map writes the entries of a map from strings to strings or to bytes, in no order.
func Map[V string | []byte](w *Writer, tag uint64, m map[string]V) {
	for key, value := range m {
		before := w.len()
		w.Bytes(tagMapValue, []byte(value))
		w.Text(tagMapKey, key)
		w.varint(uint64(w.len() - before))
		w.varint(tag)
	}
}

// The tags of a map's entry: its fields 1 and 2, whose payloads have a length.
const (
	tagMapKey   = 1<<3 | 2
	tagMapValue = 2<<3 | 2
)
