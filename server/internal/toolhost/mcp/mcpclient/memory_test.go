package mcpclient

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/toolhost/toolhost/server/internal/fairness/budget"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

// TestLargeMessagesWaitForEachOther checks that only one of several sessions reads a large message
// at a time if there is memory for one, and that the call takes over the memory of its result.
func TestLargeMessagesWaitForEachOther(t *testing.T) {
	const size, result = freeBytes + 1<<20, 16 << 20
	memory := budget.New(64<<20, 0) // 48 MiB without those for connections
	text := strings.Repeat("a", size)
	var calls sync.WaitGroup
	defer calls.Wait()
	for range 4 {
		s := script(t, false, func(c *Config) { c.MaxResultBytes, c.Memory = result, memory.Inner() })
		var hold budget.Hold
		hold.On(memory.Inner())
		hold.For("caller", false)
		call, m := s.call(t, pluginconn.Start{
			Hold: func(ctx context.Context, taken int) error {
				if used := memory.Used(); used > 2*int64(messageBytes(result)) {
					t.Errorf("%d bytes are reserved, want at most those of one message", used)
				}
				if taken != size {
					t.Errorf("the call takes over %d bytes, want %d", taken, size)
				}
				return hold.Reserve(ctx, taken)
			},
		})
		calls.Go(func() {
			s.answer(m, `{"content":[{"type":"text","text":"`+text+`"}]}`)
			ev, err := call.Next(t.Context())
			if err != nil || ev.Ended.Err != nil || len(ev.Ended.Result.Content[0].Text) != size {
				t.Errorf("the call ended with %v, %v", ev.Ended, err)
			}
			hold.Release()
		})
	}
}

// reading returns pipes whose server writes text, and a budget of which others have taken used.
func reading(t *testing.T, used int, text string) (*pipes, *budget.Budget) {
	memory := budget.New(64<<20, 0)
	var others budget.Hold
	others.On(memory.Inner())
	others.For("others", false)
	if err := others.TryReserve(used); err != nil {
		t.Fatal(err)
	}
	out, server := io.Pipe()
	_, in := io.Pipe()
	p := newPipes(Config{Plugin: "test", MaxResultBytes: 16 << 20, Memory: memory.Inner()}, in, out, io.Discard)
	go func() { // ends with the text or the pipe
		if before, ends := strings.CutSuffix(text, endOfOutput); ends {
			_, _ = io.WriteString(server, before)
			_ = server.Close()
			return
		}
		_, _ = io.WriteString(server, text)
	}()
	t.Cleanup(func() { _ = out.Close() })
	return p, memory
}

// endOfOutput at the end of a text ends the output of the server after it.
const endOfOutput = "\x00"

// TestNoMemoryForAMessage checks that a message is read and dropped if there is no memory for it.
func TestNoMemoryForAMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := reading(t, 40<<20, `{"id":1,"result":"`+strings.Repeat("a", freeBytes)+"\"}\n{}\n")
		line, dropped, err := p.line()
		if err != nil || dropped == nil || dropped.Kind != tool.KindUnavailable || !strings.HasPrefix(string(line), `{"id":1,"result":"a`) {
			t.Errorf("a message without memory is read as %.20q, %v, %v", line, dropped, err)
		}
		if line, dropped, err := p.line(); err != nil || dropped != nil || string(line) != "{}\n" {
			t.Errorf("the next one is read as %q, %v, %v", line, dropped, err)
		}
	})
}

// TestAUsualMessageNeedsNotTheMemoryOfTheLargest checks that a message above freeBytes is read
// beside others who leave no room for the largest one, and that the largest one is then refused.
func TestAUsualMessageNeedsNotTheMemoryOfTheLargest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const result = 64 << 20
		memory := budget.New(256<<20, 0)
		var others budget.Hold
		others.On(memory.Inner())
		others.For("others", false)
		if err := others.TryReserve(100 << 20); err != nil {
			t.Fatal(err)
		}
		out, server := io.Pipe()
		_, in := io.Pipe()
		p := newPipes(Config{Plugin: "test", MaxResultBytes: result, Memory: memory.Inner()}, in, out, io.Discard)
		go func() { // ends with the texts
			for _, size := range []int{freeBytes, usualBytes} {
				_, _ = io.WriteString(server, `{"id":1,"result":"`+strings.Repeat("a", size)+"\"}\n")
			}
		}()
		if line, dropped, err := p.line(); err != nil || dropped != nil || len(line) < freeBytes {
			t.Errorf("a usual message is read as %d bytes, %v, %v", len(line), dropped, err)
		}
		if used := memory.Used(); used >= 100<<20+2*usualBytes {
			t.Errorf("when the message is read, %d bytes are reserved", used)
		}
		if _, dropped, err := p.line(); err != nil || dropped == nil || dropped.Kind != tool.KindUnavailable {
			t.Errorf("a message without memory is read as %v, %v", dropped, err)
		}
	})
}

// TestLargeMessageThatDoesNotEnd checks that a server cannot keep the memory of a message.
func TestLargeMessageThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, end := range []string{"", endOfOutput} { // it is slow, or it crashes
			p, memory := reading(t, 0, strings.Repeat("a", freeBytes+1<<20)+end)
			if _, _, err := p.line(); !errors.Is(err, ErrEnded) {
				t.Errorf("a message that does not end is read with %v", err)
			}
			if used := memory.Used(); used != 0 {
				t.Errorf("after the end of the server %d bytes are reserved", used)
			}
		}
	})
}
