package main

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// pattern returns n bytes, each of which depends on its position.
func pattern(n int) []byte {
	b := make([]byte, 0, n+8)
	for i := 0; len(b) < n; i++ {
		b = append(strconv.AppendInt(b, int64(1_000_000+i), 10), '\n')
	}
	return b[:n]
}

func TestCapture(t *testing.T) {
	const all = maxBegin + maxEnd
	pattern := pattern(2*all + 77)
	for _, size := range []int{0, 1, inMemory, inMemory + 1, maxBegin, maxBegin + 1, all, all + 1, all + 12345, 2*all + 77} {
		for _, chunk := range []int{4093, 32 << 10, maxEnd + 99, 3 * all} {
			t.Run(fmt.Sprintf("%d by %d", size, chunk), func(t *testing.T) {
				var c capture
				defer c.Close()
				whole := pattern[:size]
				for rest := whole; len(rest) > 0; {
					n := min(chunk, len(rest))
					if wrote, err := c.Write(rest[:n]); wrote != n || err != nil {
						t.Fatalf("wrote %d, %v", wrote, err)
					}
					rest = rest[n:]
				}
				got, dropped, err := c.bytes()
				if err != nil || c.written != int64(size) || dropped != int64(max(0, size-all)) {
					t.Fatalf("wrote %d of %d, dropped %d, %v", c.written, size, dropped, err)
				}
				want := whole
				if dropped > 0 {
					note := fmt.Sprintf("\n[%d bytes of this output were dropped here: only the first 7 MiB and the last 1 MiB are kept; have the command write to a file to keep all]\n", dropped)
					want = []byte(string(whole[:maxBegin]) + note + string(whole[size-maxEnd:]))
				}
				if !bytes.Equal(got, want) {
					t.Errorf("got %d bytes, want %d", len(got), len(want))
				}
				if c.begin.Cap() > 2*inMemory || len(c.end) > maxEnd {
					t.Errorf("it holds %d and %d bytes", c.begin.Cap(), len(c.end))
				}
			})
		}
	}
}

// If the file cannot be written, the beginning and the end are kept, and the output says what is
// missing.
func TestCaptureWithoutFile(t *testing.T) {
	for _, size := range []int{inMemory, inMemory + 100, inMemory + maxEnd, inMemory + 2*maxEnd} {
		c := capture{failure: errors.New("no space left on device")}
		whole := pattern(size)
		_, _ = c.Write(whole)
		got, dropped, err := c.bytes()
		if err != nil || dropped != int64(max(0, size-inMemory-maxEnd)) {
			t.Fatalf("%d: dropped %d, %v", size, dropped, err)
		}
		if dropped == 0 && !bytes.Equal(got, whole) {
			t.Errorf("%d: got %d bytes", size, len(got))
		}
		if dropped > 0 && !strings.Contains(string(got), fmt.Sprintf("[%d bytes of this output were dropped here: they could not be kept: no space left on device]", dropped)) {
			t.Errorf("%d: it is not told what is missing", size)
		}
	}
}

func TestCaptureTellsWhatIsWritten(t *testing.T) {
	var seen bytes.Buffer
	c := capture{notice: func(chunk []byte) { seen.Write(chunk) }}
	_, _ = c.Write([]byte("a\n"))
	_, _ = c.Write([]byte("b"))
	if seen.String() != "a\nb" {
		t.Errorf("got %q", seen.String())
	}
}
