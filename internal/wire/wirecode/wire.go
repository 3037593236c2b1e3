package wirecode

import (
	"encoding/binary"
	"errors"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// The reasons for refusing a message.
var (
	errMalformed = errors.New("the message is malformed")
	errText      = errors.New("the message has a string that is no UTF-8")
	errTooDeep   = errors.New("the message is nested too deeply")
)

// Reader reads the fields of a message in order. After the first error it returns no more fields,
// and empty values. It is not safe for concurrent use.
type Reader struct {
	buf   []byte
	at    int
	end   int    // the end of the current message
	tag   uint64 // the number and wire type of the current field
	depth int    // how many more levels messages may be nested
	err   error
}

// decode decodes b into the empty message m. m does not share memory with b.
func (r *Reader) decode(b []byte, m Message) error {
	*r = Reader{buf: b, end: len(b), depth: protowire.DefaultRecursionLimit - 1}
	m.ReadWire(r)
	err := r.err
	*r = Reader{}
	return err
}

func (r *Reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.at = r.end
}

// Next advances to the next field, and reports whether there is one.
func (r *Reader) Next() bool {
	if r.err != nil || r.at >= r.end {
		return false
	}
	r.tag = r.varint()
	number := r.tag >> 3
	if r.err == nil && (number < uint64(protowire.MinValidNumber) || number > uint64(protowire.MaxValidNumber)) {
		r.fail(errMalformed)
	}
	return r.err == nil
}

// Tag returns the field's number and wire type, as encoded.
func (r *Reader) Tag() uint64 { return r.tag }

func (r *Reader) varint() uint64 {
	if r.at < r.end {
		if c := r.buf[r.at]; c < 0x80 {
			r.at++
			return uint64(c)
		}
	}
	return r.longVarint()
}

func (r *Reader) longVarint() uint64 {
	v, n := protowire.ConsumeVarint(r.buf[r.at:r.end])
	if n < 0 {
		r.fail(errMalformed)
		return 0
	}
	r.at += n
	return v
}

// Varint returns an integer or enumeration value.
func (r *Reader) Varint() uint64 { return r.varint() }

// Bool returns a boolean.
func (r *Reader) Bool() bool { return protowire.DecodeBool(r.varint()) }

// Fixed64 returns a 64-bit number of fixed size.
func (r *Reader) Fixed64() uint64 {
	if r.end-r.at < 8 {
		r.fail(errMalformed)
		return 0
	}
	r.at += 8
	return binary.LittleEndian.Uint64(r.buf[r.at-8:])
}

// Double returns a floating-point number.
func (r *Reader) Double() float64 { return math.Float64frombits(r.Fixed64()) }

// payload returns the bytes of a length-delimited field.
func (r *Reader) payload() []byte {
	n := r.varint()
	if n > uint64(r.end-r.at) {
		r.fail(errMalformed)
		return nil
	}
	from := r.at
	r.at += int(n)
	return r.buf[from:r.at:r.at]
}

// Text returns a string. It must be valid UTF-8.
func (r *Reader) Text() string {
	p := r.payload()
	if !utf8.Valid(p) {
		r.fail(errText)
		return ""
	}
	return string(p)
}

// Bytes returns a copy of the bytes. It is never nil.
func (r *Reader) Bytes() []byte { return append([]byte{}, r.payload()...) }

// Message decodes a nested message into m, and keeps fields that are already set.
func (r *Reader) Message(m Message) {
	outer := r.enter()
	m.ReadWire(r)
	r.leave(outer)
}

// enter makes the payload of the current field the current message.
func (r *Reader) enter() (outer int) {
	if r.depth--; r.depth < 0 {
		r.fail(errTooDeep)
	}
	p := r.payload()
	outer = r.end
	if r.err == nil {
		r.at, r.end = r.at-len(p), r.at
	}
	return outer
}

func (r *Reader) leave(outer int) {
	r.depth++
	r.end = outer
}

// Unknown appends a field with an unknown number or another wire type to kept.
func (r *Reader) Unknown(kept *[]byte) {
	from := r.at
	if !r.Skip() {
		return
	}
	*kept = protowire.AppendVarint(*kept, r.tag)
	*kept = append(*kept, r.buf[from:r.at]...)
}

// Skip skips the current field, and reports whether it is well-formed.
func (r *Reader) Skip() bool {
	number, kind := protowire.DecodeTag(r.tag)
	n := protowire.ConsumeFieldValue(number, kind, r.buf[r.at:r.end])
	if n < 0 {
		r.fail(errMalformed)
		return false
	}
	r.at += n
	return true
}

// ReadMap reads an entry of a map. It replaces an entry with the same key.
func ReadMap[V string | []byte](r *Reader, m *map[string]V) {
	outer := r.enter()
	var key string
	var value V
	for r.Next() {
		switch r.tag {
		case tagMapKey:
			key = r.Text()
		case tagMapValue:
			readValue(r, &value)
		default:
			r.Skip()
		}
	}
	r.leave(outer)
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = value
}

func readValue[V string | []byte](r *Reader, value *V) {
	switch v := any(value).(type) {
	case *string:
		*v = r.Text()
	case *[]byte:
		*v = r.Bytes()
	}
}

// Writer encodes a message from its end to its beginning. So the length of a nested message is
// known when its prefix is written, and no message is measured twice. The zero value is empty. It
// is not safe for concurrent use.
type Writer struct {
	buf []byte
	at  int // the index in buf where the written bytes begin
}

// len returns the number of written bytes.
func (w *Writer) len() int { return len(w.buf) - w.at }

// need makes room for n bytes. There is room already, unless the message has changed since it was
// measured.
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

// Varint writes an integer, boolean or enumeration value.
func (w *Writer) Varint(tag, v uint64) {
	w.varint(v)
	w.varint(tag)
}

// Bool writes a boolean.
func (w *Writer) Bool(tag uint64, v bool) { w.Varint(tag, protowire.EncodeBool(v)) }

// Fixed64 writes a 64-bit number of fixed size.
func (w *Writer) Fixed64(tag, v uint64) {
	w.need(8)
	w.at -= 8
	binary.LittleEndian.PutUint64(w.buf[w.at:], v)
	w.varint(tag)
}

// Double writes a floating-point number.
func (w *Writer) Double(tag uint64, v float64) { w.Fixed64(tag, math.Float64bits(v)) }

// Text writes a string. It does not check for valid UTF-8, because the converters that create
// messages ensure it and the reader checks it.
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

// Raw writes fields that are encoded already, because this version does not know them.
func (w *Writer) Raw(encoded []byte) {
	w.need(len(encoded))
	w.at -= len(encoded)
	copy(w.buf[w.at:], encoded)
}

// Message writes a nested message. nil is an empty one.
func (w *Writer) Message(tag uint64, m Message) {
	before := w.len()
	m.WriteWire(w)
	w.varint(uint64(w.len() - before))
	w.varint(tag)
}

// Map writes the entries of a map, in any order.
func Map[V string | []byte](w *Writer, tag uint64, m map[string]V) {
	for key, value := range m {
		before := w.len()
		w.Bytes(tagMapValue, []byte(value))
		w.Text(tagMapKey, key)
		w.varint(uint64(w.len() - before))
		w.varint(tag)
	}
}

// The tags of a map entry: its fields 1 and 2, both length-delimited.
const (
	tagMapKey   = 1<<3 | 2
	tagMapValue = 2<<3 | 2
)

// SizeVarint returns the size of a varint field whose tag has tag bytes.
func SizeVarint(tag int, v uint64) int { return tag + protowire.SizeVarint(v) }

// SizeBytes returns the size of a length-delimited field with n bytes.
func SizeBytes(tag, n int) int { return tag + protowire.SizeVarint(uint64(n)) + n }

// SizeMap returns the size of a map's entries.
func SizeMap[V string | []byte](tag int, m map[string]V) (n int) {
	for key, value := range m {
		n += SizeBytes(tag, SizeBytes(1, len(key))+SizeBytes(1, len(value)))
	}
	return n
}

// moment is a google.protobuf.Timestamp or Duration: seconds in field 1 and nanoseconds in field 2.
type moment interface {
	proto.Message
	GetSeconds() int64
	GetNanos() int32
}

const (
	tagSeconds = 1 << 3
	tagNanos   = 2 << 3
)

// SizeMoment returns the size of a nested Timestamp or Duration, without its tag and length.
func SizeMoment(m moment) (n int) {
	if v := m.GetSeconds(); v != 0 {
		n += SizeVarint(1, uint64(v))
	}
	if v := m.GetNanos(); v != 0 {
		n += SizeVarint(1, uint64(v))
	}
	return n + len(m.ProtoReflect().GetUnknown())
}

// Moment writes a Timestamp or Duration.
func (w *Writer) Moment(tag uint64, m moment) {
	before := w.len()
	w.Raw(m.ProtoReflect().GetUnknown())
	if v := m.GetNanos(); v != 0 {
		w.Varint(tagNanos, uint64(v))
	}
	if v := m.GetSeconds(); v != 0 {
		w.Varint(tagSeconds, uint64(v))
	}
	w.varint(uint64(w.len() - before))
	w.varint(tag)
}

// Timestamp decodes a Timestamp into m, and keeps fields that are already set.
func (r *Reader) Timestamp(m *timestamppb.Timestamp) { r.moment(&m.Seconds, &m.Nanos, m) }

// Duration decodes a Duration into m, and keeps fields that are already set.
func (r *Reader) Duration(m *durationpb.Duration) { r.moment(&m.Seconds, &m.Nanos, m) }

func (r *Reader) moment(seconds *int64, nanos *int32, m proto.Message) {
	outer := r.enter()
	for r.Next() {
		switch r.tag {
		case tagSeconds:
			*seconds = int64(r.varint())
		case tagNanos:
			*nanos = int32(r.varint())
		default:
			unknown := []byte(m.ProtoReflect().GetUnknown())
			r.Unknown(&unknown)
			m.ProtoReflect().SetUnknown(unknown)
		}
	}
	r.leave(outer)
}
