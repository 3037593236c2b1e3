package wirecode

import (
	"encoding/binary"
	"errors"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// Why a message is refused.
var (
	errMalformed = errors.New("the message is malformed")
	errText      = errors.New("the message has a string that is no UTF-8")
	errTooDeep   = errors.New("the message is nested too deeply")
)

// Reader reads the fields of a message, one after the other. The first error ends the message: there is no next field then,
// and values are empty. It is for one goroutine.
type Reader struct {
	buf   []byte
	at    int
	end   int    // of the message that is read
	tag   uint64 // of the field that is read: its number and kind
	depth int    // how many more messages may be nested
	err   error
}

// decode reads all of b into m, which is empty, and keeps nothing of b.
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

// Next goes to the next field of the message, and reports whether there is one.
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

// Tag returns the field's number and kind, as they are encoded.
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

// Varint returns a field that is a number or a word of an enumeration.
func (r *Reader) Varint() uint64 { return r.varint() }

// Bool returns a truth value.
func (r *Reader) Bool() bool { return protowire.DecodeBool(r.varint()) }

// Fixed64 returns a number of fixed size.
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

// payload returns the bytes of a field that has a length before it.
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

// Text returns a string.
func (r *Reader) Text() string {
	p := r.payload()
	if !utf8.Valid(p) {
		r.fail(errText)
		return ""
	}
	return string(p)
}

// Bytes returns bytes. They are never nil.
func (r *Reader) Bytes() []byte { return append([]byte{}, r.payload()...) }

// Message reads a message that is nested into m, beside what is there.
func (r *Reader) Message(m Message) {
	outer := r.enter()
	m.ReadWire(r)
	r.leave(outer)
}

// enter makes the field's payload what is read, as something that is nested.
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

// Unknown keeps a field that this version does not know, or that has another kind, as it is.
func (r *Reader) Unknown(kept *[]byte) {
	from := r.at
	if !r.Skip() {
		return
	}
	*kept = protowire.AppendVarint(*kept, r.tag)
	*kept = append(*kept, r.buf[from:r.at]...)
}

// Skip goes over a field, and reports whether that could be done.
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

// ReadMap reads an entry of a map; one with the same key is replaced.
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
