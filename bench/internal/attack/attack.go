// Package attack misuses servers from one process, so that the benchmark can measure what they use
// meanwhile, and what their other callers notice.
package attack

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/bench/internal/peer"
)

// kind is one way to misuse a server.
type kind struct {
	name    string
	workers int // each has one connection at a time
	http1   bool
	http2   bool
	// misuse returns when the server has ended the connection.
	misuse func(context.Context, net.Conn, peer.Target)
}

var kinds = []kind{
	{"connections", 512, true, true, hold},
	{"handshakes", 512, true, true, nil}, // without a TLS handshake: see connect
	{"churn", 16, true, true, func(context.Context, net.Conn, peer.Target) {}},
	{"endless headers", 32, false, true, onHTTP2(endlessHeaders)},
	{"large headers", 32, false, true, onHTTP2(largeHeaders)},
	{"open streams", 64, false, true, onHTTP2(openStreams)},
	{"resets", 32, false, true, onHTTP2(resets)},
	{"pings", 32, false, true, onHTTP2(pings)},
	{"settings", 32, false, true, onHTTP2(settings)},
	{"empty frames", 32, false, true, onHTTP2(emptyFrames)},
	{"messages", 32, false, true, onHTTP2(messages)},
	{"slow writers", 256, false, true, onHTTP2(slowly)},
	{"slow readers", 32, false, true, onHTTP2(unread)},
	{"lines of headers", 64, true, false, endlessLines},
	{"slow lines", 256, true, false, slowLines},
	{"slow bodies", 256, true, false, slowBody},
	{"unread answers", 64, true, false, unreadAnswers},
}

// Kinds returns the names of the attacks on servers of HTTP/2 or of HTTP/1.
func Kinds(http1 bool) (names []string) {
	for _, k := range kinds {
		if http1 && k.http1 || !http1 && k.http2 {
			names = append(names, k.name)
		}
	}
	return names
}

// Run attacks the target until ctx ends. Its connections come from another address of loopback each
// time, because servers limit the strangers of an address and block one that has failed often.
func Run(ctx context.Context, name string, at peer.Target) error {
	secure, err := at.Config()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		return fmt.Errorf("there is no attack %q; there are %s", name, strings.Join(append(Kinds(false), Kinds(true)...), ", "))
	}
	from := &net.TCPAddr{IP: net.IPv4(127, byte(1+rand.IntN(254)), byte(rand.IntN(256)), 1)}
	first, err := connect(ctx, from, at, secure, false)
	if err != nil {
		return fmt.Errorf("the server cannot be reached: %w", err)
	}
	first.Close()
	var all sync.WaitGroup
	for range kinds[i].workers {
		all.Go(func() {
			for ctx.Err() == nil {
				if conn, err := connect(ctx, from, at, secure, kinds[i].misuse == nil); err == nil {
					stop := context.AfterFunc(ctx, func() { conn.Close() })
					if kinds[i].misuse != nil {
						kinds[i].misuse(ctx, conn, at)
					}
					stop()
					conn.Close()
				} else {
					time.Sleep(time.Millisecond) // a server that refuses costs the attacker nothing else
				}
			}
		})
	}
	all.Wait()
	return nil
}

// connect opens a connection. With half, it sends the begin of a TLS handshake and waits until the
// server gives up.
func connect(ctx context.Context, from net.Addr, at peer.Target, with *tls.Config, half bool) (net.Conn, error) {
	dialer := net.Dialer{LocalAddr: from, Timeout: 5 * time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", at.Address)
	if err != nil {
		return nil, err
	}
	switch {
	case half:
		defer context.AfterFunc(ctx, func() { conn.Close() })()
		_, _ = conn.Write([]byte{22, 3, 1, 2, 0, 1})
		hold(ctx, conn, at)
		return conn, nil
	case with == nil:
		return conn, nil
	}
	secure := tls.Client(conn, with)
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return secure, nil
}

// hold reads until the server closes the connection.
func hold(_ context.Context, conn net.Conn, _ peer.Target) { _, _ = io.Copy(io.Discard, conn) }

func head(at peer.Target, length int) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: %d\r\n",
		at.Path, length)
}

func endlessLines(_ context.Context, conn net.Conn, at peer.Target) {
	_, err := io.WriteString(conn, head(at, 0))
	for i := 0; err == nil; i++ {
		_, err = fmt.Fprintf(conn, "X-%d: %s\r\n", i, strings.Repeat("x", 1000))
	}
}

func slowLines(ctx context.Context, conn net.Conn, at peer.Target) {
	drip(ctx, conn, []byte(head(at, 0)+strings.Repeat("X: y\r\n", 1000)))
}

func slowBody(ctx context.Context, conn net.Conn, at peer.Target) {
	if _, err := io.WriteString(conn, head(at, 4<<20)+"\r\n"); err == nil {
		drip(ctx, conn, make([]byte, 4<<20))
	}
}

func unreadAnswers(_ context.Context, conn net.Conn, at peer.Target) {
	request := append([]byte(head(at, len(at.Body))+"\r\n"), at.Body...)
	var err error
	for err == nil {
		_, err = conn.Write(request)
	}
}

// drip writes a byte at a time.
func drip(ctx context.Context, conn net.Conn, data []byte) {
	for i := range data {
		if _, err := conn.Write(data[i : i+1]); err != nil || ctx.Err() != nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}
