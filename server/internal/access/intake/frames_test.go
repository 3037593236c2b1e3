package intake

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// wireOf returns the bytes of a connection: the headers and one message of each stream, with
// alternating frames. The messages at odd positions lack their last byte.
func wireOf(t *testing.T, sizes []int, padded bool) []byte {
	t.Helper()
	var buf bytes.Buffer
	buf.WriteString(http2.ClientPreface)
	framer := http2.NewFramer(&buf, nil)
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(framer.WriteSettings())
	var head bytes.Buffer
	must(hpack.NewEncoder(&head).WriteField(hpack.HeaderField{Name: ":path", Value: "/x"}))
	texts := make([][]byte, len(sizes))
	for i, size := range sizes {
		must(framer.WriteHeaders(http2.HeadersFrameParam{StreamID: uint32(2*i + 1), BlockFragment: head.Bytes(), EndHeaders: true}))
		texts[i] = append(binary.BigEndian.AppendUint32([]byte{0}, uint32(size)), make([]byte, size)...)
		if i%2 == 1 {
			texts[i] = texts[i][:len(texts[i])-1]
		}
	}
	for left := true; left; {
		left = false
		for i := range texts {
			n := min(len(texts[i]), 1+rand.IntN(9000))
			if n == 0 {
				continue
			}
			var pad []byte
			if padded {
				pad = make([]byte, rand.IntN(255))
			}
			must(framer.WriteDataPadded(uint32(2*i+1), false, texts[i][:n], pad))
			texts[i] = texts[i][n:]
			left = true
		}
		must(framer.WritePing(false, [8]byte{}))
	}
	return buf.Bytes()
}

// The count does not depend on how the bytes are split.
func TestFramesCountIncompleteMessages(t *testing.T) {
	sizes := []int{100_000, 70_000, 3, 300_000, 0, 1 << 20}
	for _, padded := range []bool{false, true} {
		wire := wireOf(t, sizes, padded)
		for range 50 {
			var opened []uint32
			f := frames{preface: len(http2.ClientPreface), opened: func(stream uint32) { opened = append(opened, stream) }}
			for rest := wire; len(rest) > 0; {
				n := min(len(rest), 1+rand.IntN(1+rand.IntN(40_000)))
				f.pass(rest[:n])
				rest = rest[n:]
			}
			want := 70_000 - 1 - smallMessage + 300_000 - 1 - smallMessage + 1<<20 - 1 - smallMessage
			if f.large != want || len(f.messages) != 3 {
				t.Fatalf("%d bytes of %d messages are incomplete, want %d of 3", f.large, len(f.messages), want)
			}
			if len(opened) != len(sizes) {
				t.Fatalf("%d streams were opened, want %d", len(opened), len(sizes))
			}
			if want := 100_000 + want + 3*smallMessage; f.passed != want {
				t.Fatalf("%d bytes of large messages passed, want %d", f.passed, want)
			}
			reset := binary.BigEndian.AppendUint32([]byte{0, 0, 4, frameReset, 0}, 7)
			f.pass(append(reset, 0, 0, 0, 8))
			if want -= 300_000 - 1 - smallMessage; f.large != want || f.have != 0 {
				t.Fatalf("after a reset %d bytes are incomplete, want %d", f.large, want)
			}
		}
	}
}

// Whatever a caller sends, no count becomes negative or exceeds what was sent.
func FuzzFrames(f *testing.F) {
	f.Add([]byte{0, 0, 7, 0, 8, 0, 0, 0, 1, 200, 0, 0, 0, 0, 9, 1}, uint8(3))
	f.Add([]byte{0, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 1, 0, 8, 0, 0, 0, 1, 255}, uint8(1))
	f.Fuzz(func(t *testing.T, wire []byte, step uint8) {
		var fr frames
		for rest := wire; len(rest) > 0; {
			n := min(len(rest), int(step)+1)
			fr.pass(rest[:n])
			rest = rest[n:]
			if fr.large < 0 || fr.large > len(wire) || len(fr.messages) > len(wire) || fr.left < 0 {
				t.Fatalf("%+v", fr)
			}
		}
	})
}
