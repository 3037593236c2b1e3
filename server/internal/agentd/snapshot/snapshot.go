// Package snapshot encodes the state of a run, so that a run with a long journal continues without
// folding all of it.
//
// A snapshot is a copy. The journal is the truth, and the agent ignores a snapshot that it cannot
// read. Package loop owns the state, and runstore stores the bytes. See docs/adr/0015-snapshots.md.
package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"unsafe"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

const (
	// snapshotVersion increases when the encoding changes or when Apply folds an event differently.
	// Snapshots of other versions are ignored and replaced.
	snapshotVersion = 3
	// maxParts is the largest number of parts. Beyond it, the next snapshot has one part.
	maxParts = 64
	// maxSnapshot bounds two sizes in bytes: the stored parts of a snapshot, and the conversation.
	// If one of them is larger, the snapshot is not renewed, and a run that continues folds the
	// later events from the journal. The bound is larger than any model's window, except with many
	// images.
	maxSnapshot = 32 << 20
	sumSize     = crc32.Size
)

// Kept describes the stored snapshot of a run, so that the next one only adds to it. The zero value
// means no snapshot.
type Kept struct {
	parts, bytes        int
	chain               uint32           // checksum over the parts' checksums
	messages, ids, seen int              // the image's elements that the parts have
	since, compacted    uint64           // Habits.Since and Room.Compacted of the image
	last                loop.Fingerprint // of the last record that is in it
}

// Last returns the fingerprint of the last record in the snapshot.
func (k *Kept) Last() *loop.Fingerprint { return &k.last }

// Make returns the next snapshot of a state, and its description. has describes the stored
// snapshot, and last is the last record of the state. Make returns nil if the state is not at rest
// or the snapshot is too large.
//
// A snapshot adds about as much as the conversation has grown. The parts of the stored snapshot
// stay, unless the conversation was compacted or there are too many parts.
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
	settled := settledMessages(img.Messages)
	keep := has.parts
	var parts [][]byte
	if has.parts == 0 || settled > has.messages || has.since != img.Habits.Since || len(img.Seen) > has.seen {
		part, err := newPart(img, &has, settled)
		if err != nil {
			return nil, has, fmt.Errorf("making a snapshot of run %s: %w", img.Started.RunID, err)
		}
		parts = [][]byte{part}
		has = Kept{
			parts: has.parts + 1, bytes: has.bytes + len(part), chain: crc32.Update(has.chain, castagnoli(), part[:sumSize]),
			messages: settled, ids: len(img.ProviderIDs), seen: len(img.Seen), since: img.Habits.Since, compacted: img.Room.Compacted,
		}
	}
	has.last = FingerprintOf(last)
	state, err := newState(img, &has, settled)
	if err != nil {
		return nil, has, fmt.Errorf("making a snapshot of run %s: %w", img.Started.RunID, err)
	}
	return &runstore.Renewal{State: state, Keep: keep, Parts: parts}, has, nil
}

// settledMessages returns the number of messages that cannot change any more. The user's last
// message may still grow.
func settledMessages(messages []model.Message) int {
	if n := len(messages); n > 0 && messages[n-1].Role == model.RoleUser {
		return n - 1
	}
	return len(messages)
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// newPart returns what the stored snapshot lacks. The first part also has the run's first event.
func newPart(img *loop.Image, has *Kept, settled int) ([]byte, error) {
	w := encoder{out: make([]byte, sumSize)}
	if has.parts == 0 {
		started, err := loop.Marshal(&img.Started)
		if err != nil {
			return nil, err
		}
		w.text(string(started))
	}
	if err := w.messages(img.Messages[has.messages:settled]); err != nil {
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
		w.number(1) // Seen of earlier parts is void
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

// stateImage is the part of an image that changes with each event. Last is the fingerprint of the
// last record.
type stateImage struct {
	*loop.Image
	Last []byte `json:"last"`
}

// newState encodes the part of an image that changes with each event.
func newState(img *loop.Image, has *Kept, settled int) ([]byte, error) {
	f, err := loop.Marshal(stateImage{img, has.last[:]})
	if err != nil {
		return nil, err
	}
	w := encoder{out: make([]byte, sumSize)}
	w.number(snapshotVersion)
	w.number(has.parts)
	w.out = binary.BigEndian.AppendUint32(w.out, has.chain)
	w.text(string(f))
	if err := w.messages(img.Messages[settled:]); err != nil {
		return nil, err
	}
	return seal(w.out), nil
}

// FingerprintOf returns the fingerprint of a record. A journal with another record in its place is
// not the journal of the snapshot.
func FingerprintOf(rec *runstore.Record) loop.Fingerprint {
	return loop.FingerprintOf(fmt.Appendf(nil, "%d %s %d %s", rec.Time.UnixNano(), rec.Type, rec.Version, rec.Data))
}

// seal writes the checksum of the rest into the first bytes.
func seal(out []byte) []byte {
	binary.BigEndian.PutUint32(out, crc32.Checksum(out[sumSize:], castagnoli()))
	return out
}

// unseal checks the checksum and returns a decoder. The decoded texts share the memory of data,
// which no other code uses. Copying the texts would be most of the memory that a long run allocates
// when it continues.
func unseal(data []byte) (*decoder, error) {
	if len(data) < sumSize || binary.BigEndian.Uint32(data) != crc32.Checksum(data[sumSize:], castagnoli()) {
		return nil, errCorrupt
	}
	return &decoder{in: unsafe.String(unsafe.SliceData(data), len(data))[sumSize:]}, nil
}

// Read returns the state of a snapshot, and the snapshot's description. It fails if the snapshot is
// corrupt or of another version.
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

// addPart adds a part to an image.
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
