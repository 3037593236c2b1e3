package wirecode

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// moment is what google.protobuf.Timestamp and Duration have in common: seconds and nanoseconds, as fields 1 and 2.
type moment interface {
	proto.Message
	GetSeconds() int64
	GetNanos() int32
}

const (
	tagSeconds = 1 << 3
	tagNanos   = 2 << 3
)

// SizeMoment returns the size of a time or duration that is nested, without its tag and length.
func SizeMoment(m moment) (n int) {
	if v := m.GetSeconds(); v != 0 {
		n += SizeVarint(1, uint64(v))
	}
	if v := m.GetNanos(); v != 0 {
		n += SizeVarint(1, uint64(v))
	}
	return n + len(m.ProtoReflect().GetUnknown())
}

// Moment writes a time or a duration.
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

// Timestamp reads a time into m, beside what is there.
func (r *Reader) Timestamp(m *timestamppb.Timestamp) { r.moment(&m.Seconds, &m.Nanos, m) }

// Duration reads a duration into m, beside what is there.
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
