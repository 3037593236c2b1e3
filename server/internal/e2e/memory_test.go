//go:build !race

package e2e_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/tool"
)

// mostMemory is the limit of toolhost's memory at any time, in bytes. It is below the documented 1
// GiB.
const mostMemory = 800 << 20

// peak returns the peak of toolhost's memory, in bytes.
func (h *toolhost) peak(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", h.server(t)))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if words := strings.Fields(line); words[0] == "VmHWM:" {
			kib, err := strconv.Atoi(words[1])
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Fatalf("the kernel does not tell the peak of memory:\n%s", status)
	return 0
}

// survives fails the test if toolhost used too much memory or does not serve a caller with small
// calls.
func (h *toolhost) survives(t *testing.T, calm *client.Client) {
	t.Helper()
	for n := range 20 {
		arguments := json.RawMessage(fmt.Sprintf(`{"expression":"%d*7919"}`, n))
		outcome, err := calm.Call(t.Context(), tool.Call{Tool: "calculator", Arguments: arguments, Timeout: patience})
		if err != nil || outcome.Result.IsError || !strings.Contains(outcome.Result.Text(), strconv.Itoa(n*7919)) {
			t.Fatalf("a calm caller's call ended with %v, %q", err, outcome.Result.Text())
		}
	}
	peak := h.peak(t)
	t.Logf("toolhost had at most %d MiB in memory", peak>>20)
	if peak > mostMemory {
		t.Errorf("toolhost had %d MiB in memory, want at most %d", peak>>20, mostMemory>>20)
	}
}

// besieged returns a toolhost with the plugin fault, whose tool needs no approval, and a calm
// caller that has made a call.
func besieged(t *testing.T) (*toolhost, *client.Client) {
	t.Helper()
	h := prepare(t)
	copyPlugin(t, bin+"/faultplugin", h.plugins+"/fault", "")
	write(t, h.home+"/toolhost.yaml", "policy: {rules: [{name: all, when: 'true', then: allow}]}\n", 0o600)
	h.serve(t)
	calm := h.dial(t)
	h.survives(t, calm)
	return h, calm
}

// piece is incomplete argument text.
var piece = bytes.Repeat([]byte("a"), 1<<20)

// toolhost's memory stays bounded if callers open calls and send 15 MB of arguments for each
// without completing them.
func TestIncompleteArgumentsAreBounded(t *testing.T) {
	t.Parallel()
	for name, streams := range map[string]int{"one stream": 1, "many streams": 16} {
		t.Run(name, func(t *testing.T) {
			h, calm := besieged(t)
			var all sync.WaitGroup
			for range streams {
				c := h.dial(t)
				all.Go(func() { // ends with its calls
					for range 64 / streams {
						openAndStuff(t, c)
					}
				})
			}
			all.Wait()
			h.survives(t, calm)
		})
	}
}

// openAndStuff opens a call and sends 15 MiB of incomplete arguments. It returns when they are sent
// or the call is refused.
func openAndStuff(t *testing.T, c *client.Client) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	e, err := c.Open(ctx, tool.Call{Tool: "calculator", Arguments: []byte(`{"expression":"`)}, false)
	if err != nil {
		return
	}
	refused := make(chan struct{})
	go func() { // ends with the call, at the latest with the test
		defer close(refused)
		for {
			if _, err := e.Next(t.Context()); err != nil {
				return
			}
		}
	}()
	for range 15 {
		select {
		case <-refused:
			return
		default:
		}
		if e.Send(ctx, piece, false) != nil {
			return
		}
	}
}

// toolhost's memory stays bounded if callers request results of 60 MB in many calls and do not read
// them.
func TestUnreadResultsAreBounded(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]bool{"read": true, "not read": false} {
		t.Run(name, func(t *testing.T) {
			h, calm := besieged(t)
			shown := 1 << 30
			var all sync.WaitGroup
			for n := range 12 {
				c := h.dial(t)
				call := tool.Call{
					ID: fmt.Sprintf("large-%d", n), Tool: "fault", MaxShown: &shown, Timeout: patience,
					Arguments: json.RawMessage(`{"do":"large","text":"text","number":60000000}`),
				}
				all.Go(func() { // ends with its call
					if read {
						outcome, err := c.Call(t.Context(), call)
						if err == nil && len(outcome.Result.Text()) != 60000000 {
							t.Errorf("a result has %d bytes", len(outcome.Result.Text()))
						} else if kind := tool.KindOf(err); err != nil && kind != tool.KindUnavailable && kind != tool.KindOutcomeUnknown && kind != tool.KindRateLimited {
							t.Errorf("a call failed with %v", err)
						}
						return
					}
					e, err := c.Open(t.Context(), call, true)
					if err == nil {
						_, _ = e.Next(t.Context()) // waits for the start; the result is not read
					}
				})
			}
			all.Wait()
			eventually.Holds(t, "all calls have ended", func() bool {
				page, err := h.looks.Admin().Calls(t.Context(), tool.CallQuery{Tool: "fault", State: tool.CallRunning})
				return err == nil && len(page.Calls) == 0
			})
			h.survives(t, calm)
		})
	}
}

// toolhost's memory stays bounded if callers begin messages of 4 MiB and never complete them. No
// handler sees these messages.
func TestMessagesThatDoNotEndAreBounded(t *testing.T) {
	t.Parallel()
	h, calm := besieged(t)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() { beginMessages(t, h, 128, 4<<20) }) // ends when toolhost accepts no more
	}
	all.Wait()
	h.survives(t, calm)
}

// beginMessages begins a message on each of some streams of one connection. It sends all but the
// last bytes of each message, as far as toolhost's flow control lets it. It returns when toolhost
// has accepted nothing for a while, or has closed the connection. At the end of the test, the
// connection is closed.
func beginMessages(t *testing.T, h *toolhost, streams uint32, size int) {
	conn, err := net.Dial("unix", strings.TrimPrefix(h.addr, "unix://"))
	if err != nil {
		t.Error(err)
		return
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		return
	}
	w := &windows{left: map[uint32]int{}, more: make(chan struct{}, 1)}
	framer := http2.NewFramer(conn, conn)
	_ = framer.WriteSettings()
	go w.read(framer) // ends with the connection
	var head bytes.Buffer
	encoder := hpack.NewEncoder(&head)
	for stream := range streams {
		id := 2*stream + 1
		head.Reset()
		for _, field := range [][2]string{
			{":method", "POST"}, {":scheme", "http"}, {":path", "/toolhost.v1.ToolService/Call"}, {":authority", "x"},
			{"content-type", "application/grpc"}, {"te", "trailers"},
		} {
			_ = encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
		}
		if framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: head.Bytes(), EndHeaders: true}) != nil ||
			!w.take(id, 5) || framer.WriteData(id, false, binary.BigEndian.AppendUint32([]byte{0}, uint32(size))) != nil {
			return
		}
	}
	const frame = 16 << 10
	for sent := 0; sent < size-frame; sent += frame {
		for stream := range streams {
			_ = conn.SetWriteDeadline(time.Now().Add(stall))
			if !w.take(2*stream+1, frame) || framer.WriteData(2*stream+1, false, piece[:frame]) != nil {
				return
			}
		}
	}
}

// stall is how long toolhost must accept nothing until the attacker stops.
const stall = 3 * time.Second

// windows has the flow control windows of a connection.
type windows struct {
	mu      sync.Mutex
	initial int
	all     int            // window of the connection
	left    map[uint32]int // window of each stream relative to initial
	more    chan struct{}
}

// read handles the server's frames.
func (w *windows) read(framer *http2.Framer) {
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return
		}
		w.mu.Lock()
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				w.initial = 64<<10 - 1
				if size, ok := f.Value(http2.SettingInitialWindowSize); ok {
					w.initial = int(size)
				}
				w.all += 64<<10 - 1
			}
		case *http2.WindowUpdateFrame:
			if f.StreamID == 0 {
				w.all += int(f.Increment)
			} else {
				w.left[f.StreamID] += int(f.Increment)
			}
		}
		w.mu.Unlock()
		select {
		case w.more <- struct{}{}:
		default:
		}
	}
}

// take waits until n bytes may be sent on a stream, and reports whether they may.
func (w *windows) take(stream uint32, n int) bool {
	timer := time.NewTimer(stall)
	defer timer.Stop()
	for {
		w.mu.Lock()
		enough := w.all >= n && w.initial+w.left[stream] >= n
		if enough {
			w.all -= n
			w.left[stream] -= n
		}
		w.mu.Unlock()
		if enough {
			return true
		}
		select {
		case <-w.more:
		case <-timer.C:
			return false
		}
	}
}
