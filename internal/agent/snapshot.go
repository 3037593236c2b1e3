package agent

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"unsafe"

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
	chain               uint32      // the sum of the parts' sums
	messages, ids, seen int         // how many of the state's are in the parts
	since, compacted    uint64      // those of the state
	last                fingerprint // of the last record that is in it
}

// Renewal returns a snapshot of a state to be stored in the place of the one that has was kept, and what is then kept. It
// is nil while there is none to be made: between turns alone it is, and while it is not too large. last is the state's last record.
//
// What is written is about as much as the conversation has grown: parts that are there stay, unless the conversation has
// become another one or there are too many.
func (s *State) Renewal(has Kept, last *runstore.Record) (*runstore.Renewal, Kept, error) {
	if has.compacted != s.room.compacted {
		has = Kept{}
	}
	if !s.resting() || max(has.bytes, s.size) > maxSnapshot {
		return nil, has, nil
	}
	if has.parts >= maxParts {
		has = Kept{}
	}
	said := settled(s.messages)
	keep := has.parts
	var parts [][]byte
	if has.parts == 0 || said > has.messages || has.since != s.habits.since || len(s.habits.seen.list) > has.seen {
		part, err := s.part(&has, said)
		if err != nil {
			return nil, has, fmt.Errorf("making a snapshot of run %s: %w", s.started.RunID, err)
		}
		parts = [][]byte{part}
		has = Kept{
			parts: has.parts + 1, bytes: has.bytes + len(part), chain: crc32.Update(has.chain, castagnoli(), part[:sumSize]),
			messages: said, ids: len(s.providerIDs.list), seen: len(s.habits.seen.list), since: s.habits.since, compacted: s.room.compacted,
		}
	}
	has.last = printOf(last)
	state, err := s.hot(&has, said)
	if err != nil {
		return nil, has, fmt.Errorf("making a snapshot of run %s: %w", s.started.RunID, err)
	}
	return &runstore.Renewal{State: state, Keep: keep, Parts: parts}, has, nil
}

// settled returns how many messages stay as they are: the user's last may still grow.
func settled(messages []model.Message) int {
	if n := len(messages); n > 0 && messages[n-1].Role == model.RoleUser {
		return n - 1
	}
	return len(messages)
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// part returns what a snapshot that has all that was kept lacks. The first part also has what the run was asked to be.
func (s *State) part(has *Kept, said int) ([]byte, error) {
	w := scribe{out: make([]byte, sumSize)}
	if has.parts == 0 {
		started, err := marshal(&s.started)
		if err != nil {
			return nil, err
		}
		w.text(string(started))
	}
	if err := w.messages(s.messages[has.messages:said]); err != nil {
		return nil, err
	}
	ids := s.providerIDs.list[has.ids:]
	w.number(len(ids))
	for _, id := range ids {
		w.text(id)
	}
	seen := has.seen
	if has.since != s.habits.since {
		seen = 0
		w.number(1) // what the parts before have seen does not count any more
	} else {
		w.number(0)
	}
	prints := s.habits.seen.list[seen:]
	w.number(len(prints))
	for i := range prints {
		w.out = append(w.out, prints[i][:]...)
	}
	return sealed(w.out), nil
}

// hot returns what changes all the time.
func (s *State) hot(has *Kept, said int) ([]byte, error) {
	f, err := marshal(s.freeze(has.last))
	if err != nil {
		return nil, err
	}
	w := scribe{out: make([]byte, sumSize)}
	w.number(snapshotVersion)
	w.number(has.parts)
	w.out = binary.BigEndian.AppendUint32(w.out, has.chain)
	w.text(string(f))
	if err := w.messages(s.messages[said:]); err != nil {
		return nil, err
	}
	return sealed(w.out), nil
}

// printOf returns the fingerprint of a record: a journal that has another one in its place is not the one that was folded.
func printOf(rec *runstore.Record) fingerprint {
	return fingerprintOf(fmt.Appendf(nil, "%d %s %d %s", rec.Time.UnixNano(), rec.Type, rec.Version, rec.Data))
}

// sealed writes the sum of what follows into the first bytes.
func sealed(out []byte) []byte {
	binary.BigEndian.PutUint32(out, crc32.Checksum(out[sumSize:], castagnoli()))
	return out
}

// unsealed returns a reader of what was sealed. The texts that it reads are parts of data itself, which nobody else has and nobody
// changes: a copy of it would be most of what going on with a long run allocates.
func unsealed(data []byte) (*lector, error) {
	if len(data) < sumSize || binary.BigEndian.Uint32(data) != crc32.Checksum(data[sumSize:], castagnoli()) {
		return nil, errTorn
	}
	return &lector{in: unsafe.String(unsafe.SliceData(data), len(data))[sumSize:]}, nil
}

// Recall returns the state that a snapshot is of, and what is kept of it. An error says that the snapshot is of no use: it is torn,
// or of another version.
func Recall(snapshot *runstore.Snapshot) (State, Kept, error) {
	var s State
	has, tail, err := s.recall(snapshot)
	if err != nil {
		return State{}, Kept{}, fmt.Errorf("reading a snapshot: %w", err)
	}
	has.messages, has.ids, has.seen = len(s.messages), len(s.providerIDs.list), len(s.habits.seen.list)
	has.since, has.compacted = s.habits.since, s.room.compacted
	s.messages = append(s.messages, tail...)
	return s, has, nil
}

func (s *State) recall(snapshot *runstore.Snapshot) (has Kept, tail []model.Message, err error) {
	r, err := unsealed(snapshot.State)
	if err != nil {
		return has, nil, err
	}
	if v := r.number(); v != snapshotVersion {
		return has, nil, fmt.Errorf("it has the version %d, and this program writes %d", v, snapshotVersion)
	}
	has.parts, has.chain = r.number(), binary.BigEndian.Uint32([]byte(r.take(sumSize)))
	var f frozen
	r.json(&f)
	if tail = r.messages(); r.err != nil {
		return has, nil, r.err
	}
	chain := uint32(0)
	for i, part := range snapshot.Parts {
		if err := s.learn(i, part); err != nil {
			return has, nil, err
		}
		has.bytes += len(part)
		chain = crc32.Update(chain, castagnoli(), part[:sumSize])
	}
	if has.parts != len(snapshot.Parts) || has.chain != chain {
		return has, nil, errors.New("its parts do not belong to it")
	}
	has.last, err = s.thaw(&f)
	return has, tail, err
}

// learn adds to a state what a part holds.
func (s *State) learn(place int, part []byte) error {
	r, err := unsealed(part)
	if err != nil {
		return err
	}
	if place == 0 {
		r.json(&s.started)
	}
	s.messages = append(s.messages, r.messages()...)
	for range r.count() {
		s.providerIDs.add(r.text())
	}
	if r.number() != 0 {
		s.habits.seen = gathered[fingerprint]{}
	}
	for range r.count() {
		var print fingerprint
		copy(print[:], r.take(len(print)))
		s.habits.seen.add(print)
	}
	return r.err
}
