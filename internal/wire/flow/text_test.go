package flow_test

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/toolhost/toolhost/internal/wire/flow"
)

// A Text keeps all pieces in order, and is empty after Take.
func TestTextKeepsItsPieces(t *testing.T) {
	var source bytes.Buffer
	for i := 0; source.Len() < 300<<10; i++ {
		fmt.Fprintf(&source, "%d;", i*7919)
	}
	whole := source.Bytes()
	for _, piece := range []int{1, 1000, 64 << 10, 64<<10 + 1, 200 << 10, len(whole)} {
		for _, begun := range []int{0, 1, 64 << 10, 100_000} {
			text := flow.TextOf(whole[:begun])
			for b := range slices.Chunk(whole[begun:], piece) {
				text.Append(b)
			}
			if text.Len() != len(whole) {
				t.Fatalf("pieces of %d after %d: the length is %d, want %d", piece, begun, text.Len(), len(whole))
			}
			if got := bytes.Join(text.Blocks(), nil); !bytes.Equal(got, whole) {
				t.Errorf("pieces of %d after %d: the blocks are not the text", piece, begun)
			}
			if got := text.Take(); !bytes.Equal(got, whole) {
				t.Errorf("pieces of %d after %d: Take is not the text", piece, begun)
			}
			if text.Len() != 0 || text.Blocks() != nil || text.Take() != nil {
				t.Errorf("pieces of %d after %d: something is left after Take", piece, begun)
			}
		}
	}
}

// A Text does not write into the array behind its first piece.
func TestTextDoesNotWriteIntoItsFirstPiece(t *testing.T) {
	array := []byte("begin|theirs")
	text := flow.TextOf(array[:5])
	text.Append([]byte("+more"))
	if got := string(text.Take()); got != "begin+more" || string(array) != "begin|theirs" {
		t.Errorf("got %q, and the array has %q", got, array)
	}
}

// 16 MiB in frames of 64 KiB allocate little more than their size.
func TestTextCopiesEachPieceOnce(t *testing.T) {
	frame := bytes.Repeat([]byte("x"), 64<<10)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var text flow.Text
	for range 256 {
		text.Append(frame)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 17<<20 {
		t.Errorf("%d bytes of text allocated %d bytes", text.Len(), got)
	}
}
