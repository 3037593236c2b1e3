package counts_test

import (
	"bytes"
	"encoding/binary"
	"net"
	"sync"
	"testing"
)

// tally contains the counts of one socket.
type tally struct {
	Writes               int // write system calls of this end
	Sent, Received       int // gRPC messages
	Frames               int // HTTP/2 frames in both directions
	BytesSent, BytesRead int
}

// meter counts the traffic of all connections of a listener. It is safe for concurrent use.
type meter struct {
	mu  sync.Mutex
	all tally
}

// now returns the counts so far.
func (m *meter) now() tally {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.all
}

func (t tally) minus(before tally) tally {
	return tally{Writes: t.Writes - before.Writes, Sent: t.Sent - before.Sent, Received: t.Received - before.Received,
		Frames: t.Frames - before.Frames, BytesSent: t.BytesSent - before.BytesSent, BytesRead: t.BytesRead - before.BytesRead}
}

// listen returns a listener whose connections are counted. A nil meter counts nothing.
func (m *meter) listen(t *testing.T, socket string) net.Listener {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	if m == nil {
		return l
	}
	return metered{l, m}
}

type metered struct {
	net.Listener
	meter *meter
}

func (l metered) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, meter: l.meter, in: frames{preface: true}}, nil
}

type conn struct {
	net.Conn
	meter   *meter
	in, out frames
}

// NetConn lets toolhost find the user at the other end.
func (c *conn) NetConn() net.Conn { return c.Conn }

// Write counts before it writes, so that a test that has received the answer sees the count.
func (c *conn) Write(b []byte) (int, error) {
	c.meter.count(func(t *tally) {
		frames, messages := c.out.take(b)
		t.Writes, t.BytesSent, t.Frames, t.Sent = t.Writes+1, t.BytesSent+len(b), t.Frames+frames, t.Sent+messages
	})
	return c.Conn.Write(b)
}

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.meter.count(func(t *tally) {
		frames, messages := c.in.take(b[:n])
		t.BytesRead, t.Frames, t.Received = t.BytesRead+n, t.Frames+frames, t.Received+messages
	})
	return n, err
}

func (m *meter) count(change func(*tally)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(&m.all)
}

// frames is a parser that counts HTTP/2 frames and gRPC messages in one direction of a connection.
type frames struct {
	preface bool // the client's connection preface has not arrived yet
	rest    []byte
	data    map[uint32][]byte // incomplete messages by stream
}

const (
	preface     = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	frameHeader = 9
	frameData   = 0
	prefix      = 5 // length of the prefix of a gRPC message: compressed flag and length
)

// take counts the frames and messages that end in b.
func (f *frames) take(b []byte) (frames, messages int) {
	f.rest = append(f.rest, b...)
	if f.preface && len(f.rest) >= len(preface) {
		f.rest, f.preface = bytes.TrimPrefix(f.rest, []byte(preface)), false
	}
	for !f.preface && len(f.rest) >= frameHeader {
		length := int(binary.BigEndian.Uint32(f.rest) >> 8)
		if len(f.rest) < frameHeader+length {
			break
		}
		frames++
		if f.rest[3] == frameData {
			messages += f.message(binary.BigEndian.Uint32(f.rest[5:]), f.rest[frameHeader:frameHeader+length])
		}
		f.rest = f.rest[frameHeader+length:]
	}
	f.rest = bytes.Clone(f.rest)
	return frames, messages
}

func (f *frames) message(stream uint32, data []byte) (messages int) {
	if f.data == nil {
		f.data = map[uint32][]byte{}
	}
	all := append(f.data[stream], data...)
	for len(all) >= prefix {
		end := prefix + int(binary.BigEndian.Uint32(all[1:]))
		if len(all) < end {
			break
		}
		messages++
		all = all[end:]
	}
	f.data[stream] = all
	return messages
}
