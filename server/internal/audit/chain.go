package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
)

// link is the part of a line that connects it with the line before it.
type link struct {
	Seq  uint64 `json:"seq"`            // from 1, without gaps
	Prev string `json:"prev,omitempty"` // the SHA-256 of the line before, without its newline; empty: there is none
}

// position is the end of the chain.
type position struct {
	seq  uint64 // of the last line
	prev string // the digest of the last line; empty: there is none
}

// follow returns the position after a line. A line that has no number, such as an incomplete one,
// does not count.
func (p position) follow(text []byte) position {
	sum := sha256.Sum256(text)
	next := position{p.seq, hex.EncodeToString(sum[:])}
	var l link
	if json.Unmarshal(text, &l) == nil && l.Seq > 0 {
		next.seq = l.Seq
	}
	return next
}

// maxLine bounds a line in bytes. The texts of a line are bounded, so that a longer one is not a
// line of this package.
const maxLine = 1 << 20

// lastPosition returns the end of the chain in a file, and whether its last line is incomplete.
func lastPosition(file *os.File, size int64) (p position, torn bool, err error) {
	if size == 0 {
		return position{}, false, nil
	}
	start := max(0, size-2*maxLine)
	data := make([]byte, size-start)
	if _, err := file.ReadAt(data, start); err != nil && err != io.EOF {
		return position{}, false, err
	}
	torn = data[len(data)-1] != '\n'
	lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	if start > 0 && len(lines) > 1 {
		lines = lines[1:] // may be the end of a line
	}
	for _, text := range lines {
		p = p.follow(text)
	}
	return p, torn, nil
}
