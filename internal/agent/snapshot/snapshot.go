// Package snapshot encodes the state of a run, so that a run with a long journal continues without folding all of it.
//
// A snapshot is a copy: the journal says what is true, and a snapshot that cannot be read is ignored. Package loop owns the state, and
// runstore keeps the bytes. See docs/adr/0015-snapshots.md.
package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"unsafe"

	"github.com/toolhost/toolhost/internal/agent/loop"
	"github.com/toolhost/toolhost/internal/agent/runstore"
	"github.com/toolhost/toolhost/internal/model"
)

const (
	// snapshotVersion grows when the encoding changes, or what Apply makes of an event. A snapshot of another version is not read, and
	// replaced.
	snapshotVersion = 2
	// maxParts bounds the parts of a snapshot; then all become one.
	maxParts = 64
	// maxSnapshot is how large a snapshot is that is not renewed any more, in bytes: more than any model can read, unless it is
	// shown many images. What comes after it is folded from the journal.
	maxSnapshot = 32 << 20
	sumSize     = crc32.Size
)

// Kept is what the store's snapshot of a run holds, so that the next one need only add to it. The zero value: nothing.
type Kept struct {
	parts, bytes        int
	chain               uint32           // the sum of the parts' sums
	messages, ids, seen int              // how many of the state's are in the parts
	since, compacted    uint64           // those of the state
	last                loop.Fingerprint // of the last record that is in it
}

// Last returns the fingerprint of the last record that the snapshot has.
func (k *Kept) Last() *loop.Fingerprint { return &k.last }

// Make returns a snapshot of a state to be stored in the place of the one that has was kept, and what is then kept. It
// is nil while there is none to be made: between turns alone it is, and while it is not too large. last is the state's last record.
//
// What is written is about as much as the conversation has grown: parts that are there stay, unless the conversation has
// become another one or there are too many.
func Make(s *loop.State, has Kept, last *runstore.Record) (*runstore.Renewal, Kept, error) {
	if !s.Resting() {
		return nil, has, nil
	}
	img := s.Image()
	if has.compacted != img.Room.Compacted {
		has = Kept{}
	}
	if max(has.bytes, img.Size) > maxSnapshot {
		return nil, has, nil
	}
	if has.parts >= maxParts {
		has = Kept{}
	}
	said := settledMessages(img.Messages)
	keep := has.parts
	var parts [][]byte
	if has.parts == 0 || said > has.messages || has.since != img.Habits.Since || len(img.Seen) > has.seen {
		part, err := newPart(img, &has, said)
		if err != nil {
			return nil, has, fmt.Errorf("making a snapshot of run %s: %w", img.Started.RunID, err)
		}
		parts = [][]byte{part}
		has = Kept{
			parts: has.parts + 1, bytes: has.bytes + len(part), chain: crc32.Update(has.chain, castagnoli(), part[:sumSize]),
			messages: said, ids: len(img.ProviderIDs), seen: len(img.Seen), since: img.Habits.Since, compacted: img.Room.Compacted,
		}
	}
	has.last = FingerprintOf(last)
	state, err := newState(img, &has, said)
	if err != nil {
		return nil, has, fmt.Errorf("making a snapshot of run %s: %w", img.Started.RunID, err)
	}
	return &runstore.Renewal{State: state, Keep: keep, Parts: parts}, has, nil
}

// settled returns how many messages stay as they are: the user's last may still grow.
func settledMessages(messages []model.Message) int {
	if n := len(messages); n > 0 && messages[n-1].Role == model.RoleUser {
		return n - 1
	}
	return len(messages)
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// newPart returns what a snapshot that has all that was kept lacks. The first part also has what the run was asked to be.
func newPart(img *loop.Image, has *Kept, said int) ([]byte, error) {
	w := encoder{out: make([]byte, sumSize)}
	if has.parts == 0 {
		started, err := loop.Marshal(&img.Started)
		if err != nil {
			return nil, err
		}
		w.text(string(started))
	}
	if err := w.messages(img.Messages[has.messages:said]); err != nil {
		return nil, err
	}
	ids := img.ProviderIDs[has.ids:]
	w.number(len(ids))
	for _, id := range ids {
		w.text(id)
	}
	seen := has.seen
	if has.since != img.Habits.Since {
		seen = 0
		w.number(1) // what the parts before have seen does not count any more
	} else {
		w.number(0)
	}
	prints := img.Seen[seen:]
	w.number(len(prints))
	for i := range prints {
		w.out = append(w.out, prints[i][:]...)
	}
	return seal(w.out), nil
}

// changing is the part of an image that changes with each event. last is the fingerprint of the last record.
type stateImage struct {
	*loop.Image
	Last []byte `json:"last"`
}

// newState returns what changes all the time.
func newState(img *loop.Image, has *Kept, said int) ([]byte, error) {
	f, err := loop.Marshal(stateImage{img, has.last[:]})
	if err != nil {
		return nil, err
	}
	w := encoder{out: make([]byte, sumSize)}
	w.number(snapshotVersion)
	w.number(has.parts)
	w.out = binary.BigEndian.AppendUint32(w.out, has.chain)
	w.text(string(f))
	if err := w.messages(img.Messages[said:]); err != nil {
		return nil, err
	}
	return seal(w.out), nil
}

// Print returns the fingerprint of a record: a journal that has another one in its place is not the one that was folded.
func FingerprintOf(rec *runstore.Record) loop.Fingerprint {
	return loop.FingerprintOf(fmt.Appendf(nil, "%d %s %d %s", rec.Time.UnixNano(), rec.Type, rec.Version, rec.Data))
}

// sealed writes the sum of what follows into the first bytes.
func seal(out []byte) []byte {
	binary.BigEndian.PutUint32(out, crc32.Checksum(out[sumSize:], castagnoli()))
	return out
}

// unsealed returns a reader of what was sealed. The texts that it reads are parts of data itself, which nobody else has and nobody
// changes: a copy of it would be most of what going on with a long run allocates.
func unseal(data []byte) (*decoder, error) {
	if len(data) < sumSize || binary.BigEndian.Uint32(data) != crc32.Checksum(data[sumSize:], castagnoli()) {
		return nil, errCorrupt
	}
	return &decoder{in: unsafe.String(unsafe.SliceData(data), len(data))[sumSize:]}, nil
}

// Read returns the state that a snapshot is of, and what is kept of it. An error says that the snapshot is of no use: it is torn,
// or of another version.
func Read(snapshot *runstore.Snapshot) (loop.State, Kept, error) {
	s, has, err := read(snapshot)
	if err != nil {
		return loop.State{}, Kept{}, fmt.Errorf("reading a snapshot: %w", err)
	}
	return s, has, nil
}

func read(snapshot *runstore.Snapshot) (s loop.State, has Kept, err error) {
	r, err := unseal(snapshot.State)
	if err != nil {
		return s, has, err
	}
	if v := r.number(); v != snapshotVersion {
		return s, has, fmt.Errorf("it has the version %d, and this program writes %d", v, snapshotVersion)
	}
	has.parts, has.chain = r.number(), binary.BigEndian.Uint32([]byte(r.take(sumSize)))
	img := new(loop.Image)
	state := stateImage{Image: img}
	r.json(&state)
	tail := r.messages()
	switch {
	case r.err != nil:
		return s, has, r.err
	case len(state.Last) != len(has.last):
		return s, has, errCorrupt
	}
	chain := uint32(0)
	for i, part := range snapshot.Parts {
		if err := addPart(img, i, part); err != nil {
			return s, has, err
		}
		has.bytes += len(part)
		chain = crc32.Update(chain, castagnoli(), part[:sumSize])
	}
	if has.parts != len(snapshot.Parts) || has.chain != chain {
		return s, has, errors.New("its parts do not belong to it")
	}
	has.messages, has.ids, has.seen = len(img.Messages), len(img.ProviderIDs), len(img.Seen)
	has.since, has.compacted, has.last = img.Habits.Since, img.Room.Compacted, loop.Fingerprint(state.Last)
	img.Messages = append(img.Messages, tail...)
	s, err = loop.Restore(img)
	return s, has, err
}

// addPart adds to an image what a part holds.
func addPart(img *loop.Image, place int, part []byte) error {
	r, err := unseal(part)
	if err != nil {
		return err
	}
	if place == 0 {
		r.json(&img.Started)
	}
	img.Messages = append(img.Messages, r.messages()...)
	for range r.count() {
		img.ProviderIDs = append(img.ProviderIDs, r.text())
	}
	if r.number() != 0 {
		img.Seen = nil
	}
	for range r.count() {
		var print loop.Fingerprint
		copy(print[:], r.take(len(print)))
		img.Seen = append(img.Seen, print)
	}
	return r.err
}
