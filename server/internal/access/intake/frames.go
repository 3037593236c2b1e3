package intake

import "encoding/binary"

const (
	http2Preface     = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	frameHeaderBytes = 9
	frameData        = 0
	frameHeaders     = 1
	frameReset       = 3
	flagEndStream    = 0x1
	flagPadded       = 0x8
	prefixBytes      = 5 // the prefix of a gRPC message: a flag and the length
)

// frames parses the HTTP/2 frames of a connection, in one direction, and the gRPC messages in them.
// It does not store their content. The zero value with a preface is ready for use.
type frames struct {
	preface int // bytes of the connection preface that have not passed
	header  [frameHeaderBytes]byte
	have    int // bytes of the frame header that have passed
	left    int // bytes of the frame's payload that have not passed
	data    bool
	padded  bool // the next byte is the length of the padding
	padding int  // bytes of padding at the end of the payload
	stream  uint32

	messages map[uint32]*message // incomplete messages, by stream
	large    int                 // the total size of incomplete messages beyond smallMessage
	passed   int                 // bytes that have passed in messages of at least largeAnswer

	opened func(stream uint32)      // called for the headers of a stream; may be nil
	known  func(stream uint32) bool // reports whether a stream is open; nil: all are
	reset  func(stream uint32)      // called when a stream is reset; may be nil
	// finished is called for the last frame of a stream in this direction. It may be nil.
	finished func(stream uint32)
}

// message is an incomplete message.
type message struct {
	prefix [prefixBytes]byte
	have   int // bytes of the prefix that have passed
	left   int // bytes of the message that have not passed
	got    int // bytes of the message that have passed
}

// pass parses the next bytes of the connection.
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

// begin parses the header of a frame.
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

// payload parses bytes of the current frame, at most the rest of it.
func (f *frames) payload(b []byte) {
	f.left -= len(b)
	if f.padded && len(b) > 0 {
		f.padded, f.padding = false, int(b[0])
		b = b[1:]
	}
	if f.data {
		// The padding is at the end of the frame and belongs to no message.
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

// text parses bytes of the messages of the frame's stream.
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

// large returns how many received bytes of the message are reserved.
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

// drop forgets the message of a stream.
func (f *frames) drop(stream uint32) {
	if m := f.messages[stream]; m != nil {
		f.large -= m.large()
		delete(f.messages, stream)
	}
}
