package hostserver

import "encoding/binary"

const (
	http2Preface     = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	frameHeaderBytes = 9
	frameData        = 0
	frameHeaders     = 1
	frameReset       = 3
	flagEndStream    = 0x1
	flagPadded       = 0x8
	prefixBytes      = 5 // of a gRPC message: a flag and its length
)

// frames follows the frames of a connection and the messages in them. The zero value with a preface is ready.
type frames struct {
	preface int // bytes of the connection's preface that are still to come
	header  [frameHeaderBytes]byte
	have    int // bytes of header
	left    int // bytes of the frame's payload that are still to come
	data    bool
	padded  bool // the next byte says how much padding there is
	padding int  // bytes at the end of the payload that are no message
	stream  uint32

	messages map[uint32]*message // those that have begun and are not complete, by stream
	large    int                 // what these have beyond smallMessage, in all
	passed   int                 // bytes of messages of at least largeAnswer that have passed

	opened func(stream uint32)      // a stream's headers begin; nil: nobody asks
	known  func(stream uint32) bool // whether a stream is open; nil: all are
	reset  func(stream uint32)      // a stream is reset; nil: nobody asks
	// finished is called at the end of the last frame of a stream's sender; nil: nobody asks.
	finished func(stream uint32)
}

// message is one that arrives.
type message struct {
	prefix [prefixBytes]byte
	have   int // bytes of prefix
	left   int // bytes that are still to come
	got    int // bytes that have come
}

// pass takes the next bytes of the connection.
func (f *frames) pass(b []byte) {
	for len(b) > 0 {
		switch {
		case f.preface > 0:
			n := min(f.preface, len(b))
			f.preface -= n
			b = b[n:]
		case f.have < frameHeaderBytes:
			n := copy(f.header[f.have:], b)
			f.have += n
			b = b[n:]
			if f.have == frameHeaderBytes {
				f.begin()
			}
		default:
			n := min(f.left, len(b))
			f.payload(b[:n])
			b = b[n:]
		}
	}
}

// begin takes the header of a frame.
func (f *frames) begin() {
	f.left = int(f.header[0])<<16 | int(f.header[1])<<8 | int(f.header[2])
	kind, flags := f.header[3], f.header[4]
	f.stream = binary.BigEndian.Uint32(f.header[5:]) &^ (1 << 31)
	f.data, f.padded, f.padding = kind == frameData, kind == frameData && flags&flagPadded != 0, 0
	if kind == frameReset {
		f.drop(f.stream)
		if f.reset != nil {
			f.reset(f.stream)
		}
	}
	if kind == frameHeaders && f.opened != nil {
		f.opened(f.stream)
	}
	if f.left == 0 {
		f.end()
	}
}

// payload takes bytes of the frame, of which there are no more than are left.
func (f *frames) payload(b []byte) {
	f.left -= len(b)
	if f.padded && len(b) > 0 {
		f.padded, f.padding = false, int(b[0])
		b = b[1:]
	}
	if f.data {
		// The padding is at the end: what of b is beyond the data is cut off.
		f.text(b[:max(0, len(b)-max(0, f.padding-f.left))])
	}
	if f.left == 0 {
		f.end()
	}
}

// end ends the frame.
func (f *frames) end() {
	f.have = 0
	kind, flags := f.header[3], f.header[4]
	if flags&flagEndStream == 0 || kind != frameData && kind != frameHeaders {
		return
	}
	f.drop(f.stream)
	if f.finished != nil {
		f.finished(f.stream)
	}
}

// text takes bytes of the messages of the frame's stream.
func (f *frames) text(b []byte) {
	if f.known != nil && !f.known(f.stream) {
		return
	}
	m := f.messages[f.stream]
	for len(b) > 0 {
		if m == nil {
			m = &message{}
		}
		if m.have < prefixBytes {
			n := copy(m.prefix[m.have:], b)
			m.have += n
			b = b[n:]
			if m.have == prefixBytes {
				m.left = int(binary.BigEndian.Uint32(m.prefix[1:]))
			}
		}
		n := min(m.left, len(b))
		b = b[n:]
		f.grow(m, n)
		if m.have == prefixBytes && m.left == 0 {
			f.large -= m.large()
			if f.messages != nil {
				delete(f.messages, f.stream)
			}
			m = nil
		}
	}
	if m != nil {
		if f.messages == nil {
			f.messages = map[uint32]*message{}
		}
		f.messages[f.stream] = m
	}
}

// large returns how much of what has come of a message is accounted for.
func (m *message) large() int { return max(0, m.got-smallMessage) }

func (f *frames) grow(m *message, n int) {
	before := m.large()
	m.left -= n
	m.got += n
	f.large += m.large() - before
	if m.got+m.left >= largeAnswer {
		f.passed += n
	}
}

// drop forgets the message of a stream, which is complete or will not be.
func (f *frames) drop(stream uint32) {
	if m := f.messages[stream]; m != nil {
		f.large -= m.large()
		delete(f.messages, stream)
	}
}
