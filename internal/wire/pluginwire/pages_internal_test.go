package pluginwire

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// All pieces come out in order, and the allocated memory stays within the documented limit.
func TestPages(t *testing.T) {
	source := rand.NewChaCha8([32]byte{1, 2})
	random := rand.New(source)
	for _, largest := range []int{1, 100, 64 << 10} {
		for range 20 {
			var p pages
			var want []byte
			for range random.IntN(200) {
				piece := make([]byte, random.IntN(largest+1))
				_, _ = source.Read(piece) // never fails
				p.add(piece)
				want = append(want, piece...)
				clear(piece) // the caller may reuse it
			}
			room := cap(p.last)
			for _, page := range p.full {
				room += cap(page)
			}
			if most := min(max(2*len(want), minPage), len(want)+maxPage); room > most && len(want) > minPage {
				t.Errorf("%d bytes take room for %d", len(want), room)
			}
			if p.size != len(want) {
				t.Errorf("the size is %d, want %d", p.size, len(want))
			}
			same := p
			same.full = append([][]byte(nil), p.full...)
			if got := p.text("tail"); got != string(want)+"tail" {
				t.Errorf("as text, %d bytes are not the %d that were added", len(got), len(want))
			}
			if got := same.bytes([]byte("tail")); !bytes.Equal(got, append(want, "tail"...)) {
				t.Errorf("as bytes, %d are not the %d that were added", len(got), len(want))
			}
			if p.size != 0 || p.full != nil || p.last != nil {
				t.Error("it is not empty afterwards")
			}
		}
	}
}
