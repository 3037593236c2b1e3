package host

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/arguments"
	"github.com/toolhost/toolhost/tool"
)

const (
	// maxFrozen and maxFrozenBytes bound the final arguments that wait for a person. What no longer fits is computed again when
	// the approval comes.
	maxFrozen      = 10_000
	maxFrozenBytes = 32 << 20
	// maxShownArguments bounds the final arguments in an answer that asks for approval: they travel in one message.
	maxShownArguments = 1 << 20
	// keepFrozen is how long final arguments wait: as long as agentd lets a person take.
	keepFrozen = 24 * time.Hour
)

// frozen is the final arguments of a call: those that the tool gets, after filters, repair and defaults. Policy decides on
// them, a person approves them, and the plugin executes them; nothing changes them in between.
type frozen struct {
	final   arguments.Parsed
	repairs []byte   // for the result; nil: none
	filters []string // that changed them
}

// freezerKey names final arguments by what led to them and what they are. The call id is no part of it: a caller may repeat a
// call under the id of a new attempt, as agentd does.
type freezerKey struct {
	principal, session string
	submitted          [sha256.Size]byte // of the tool and the arguments that the caller sent
	final              [sha256.Size]byte // of the final arguments
	revision           string            // of the plugin: another one may have other defaults
}

// freezer keeps the final arguments of calls that wait for a person, in memory, so that the approved repeat of a call executes
// what the person saw, whatever filters would answer by then. Each entry is good for one execution: a caller who repeats a call
// has it pass the filters each time. Nothing depends on an entry being there: without it the arguments are computed again, and
// the approval's digest decides whether they are the approved ones.
type freezer struct {
	mu    sync.Mutex
	kept  map[freezerKey]*freezerEntry
	queue []freezerKey // the oldest first; an entry that is gone may still be in it
	bytes int
}

// freezerEntry holds the text of final arguments alone: what was read and decoded of them takes many times as much memory.
type freezerEntry struct {
	canonical []byte
	repairs   []byte
	filters   []string
	uses      int       // executions that it is good for
	last      time.Time // when a use was added
}

func newFreezer() *freezer { return &freezer{kept: map[freezerKey]*freezerEntry{}} }

// keep adds one use of final arguments.
func (f *freezer) keep(key freezerKey, args frozen) {
	e := &freezerEntry{canonical: args.final.Canonical(), repairs: args.repairs, filters: args.filters, uses: 1, last: time.Now()}
	if e.size() > maxFrozenBytes/8 {
		return
	}
	e.canonical = bytes.Clone(e.canonical) // it may be the begin of a much larger buffer
	f.mu.Lock()
	defer f.mu.Unlock()
	if known := f.kept[key]; known != nil {
		known.uses, known.last = known.uses+1, e.last
		return
	}
	f.kept[key] = e
	f.bytes += e.size()
	f.queue = append(f.queue, key)
	for len(f.queue) > maxFrozen || f.bytes > maxFrozenBytes {
		oldest := f.queue[0]
		f.queue = f.queue[1:]
		f.dropLocked(oldest)
	}
}

// take returns final arguments and uses them up; nil if they are not kept.
func (f *freezer) take(key freezerKey) *frozen {
	e := f.takeEntry(key)
	if e == nil {
		return nil
	}
	final, err := arguments.Parse(e.canonical)
	if err != nil { // they were parsed before
		return nil
	}
	return &frozen{final: final, repairs: e.repairs, filters: e.filters}
}

func (f *freezer) takeEntry(key freezerKey) *freezerEntry {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.kept[key]
	if e == nil {
		return nil
	}
	if time.Since(e.last) > keepFrozen {
		f.dropLocked(key)
		return nil
	}
	if e.uses--; e.uses == 0 {
		f.dropLocked(key)
	}
	return e
}

func (f *freezer) dropLocked(key freezerKey) {
	if e := f.kept[key]; e != nil {
		f.bytes -= e.size()
		delete(f.kept, key)
	}
}

func (e *freezerEntry) size() int {
	size := 512 + len(e.canonical) + len(e.repairs)
	for _, name := range e.filters {
		size += len(name)
	}
	return size
}

// digestOf returns the digest of final arguments as callers and the audit log have it.
func digestOf(final arguments.Parsed) string {
	sum := sha256.Sum256(final.Canonical())
	return hex.EncodeToString(sum[:])
}

func isDigest(text string) bool {
	return len(text) == 2*sha256.Size && strings.Trim(text, "0123456789abcdef") == ""
}

// freezerKey returns the key of the call's final arguments with a digest; false if there can be none.
func (r *run) freezerKey(s submission, digest string) (key freezerKey, ok bool) {
	n, err := hex.Decode(key.final[:], []byte(digest))
	if err != nil || n != len(key.final) {
		return key, false
	}
	key.principal, key.session, key.revision = r.call.Principal, r.call.Session, r.tool.Plugin.Digest
	key.submitted = sumCall(r.call.Tool, s.parsed)
	return key, true
}

// freeze returns the call's final arguments. Those that a person approved are the kept ones, if they are still there; otherwise
// filters and repair make them from what the caller sent. It returns false if that ended the call.
func (r *run) freeze(s submission) (text []byte, final arguments.Parsed, ok bool) {
	if thawed := r.thaw(s); thawed != nil {
		return thawed.final.Canonical(), thawed.final, r.fits(thawed.final)
	}
	text, final, ok = r.filterBefore(s)
	if !ok {
		return nil, final, false
	}
	if len(text) > 0 && text[0] <= ' ' && len(bytes.TrimSpace(text)) == 0 { // not every reader of JSON takes that for {}
		text = final.Canonical()
	}
	schema, err := r.schema()
	if err != nil {
		r.finishWithout(tool.Outcome{Err: r.unsent(err)})
		return nil, final, false
	}
	if !r.tool.Spec.Strict {
		if mended, repairs := schema.Repair(final); len(repairs) > 0 && r.noteRepairs(mended, repairs) {
			final, text = mended, mended.Canonical()
		}
	}
	if canonical := final.Canonical(); r.call.Approval != nil && !(r.tool.Spec.PartialArguments && len(canonical) > maxReplacement) {
		text = canonical // to the byte what the digest is of
	}
	return text, final, r.fits(final)
}

// fits reports whether the final arguments fit the tool's schema. If not, it ends the call.
func (r *run) fits(final arguments.Parsed) bool {
	schema, err := r.schema()
	if err != nil {
		r.finishWithout(tool.Outcome{Err: r.unsent(err)})
		return false
	}
	if err = schema.Validate(final); err == nil {
		err = r.noteUndeclared(schema.Undeclared(final))
	}
	if err != nil {
		r.finishWithout(tool.Outcome{Result: tool.ErrorResult(err.Error())})
		return false
	}
	return true
}

// thaw returns the kept final arguments that the call's approval names by their digest, or nil.
func (r *run) thaw(s submission) *frozen {
	r.mu.Lock()
	thawed := r.thawed
	r.mu.Unlock()
	if thawed != nil || r.call.Approval == nil || r.call.Approval.ArgumentsSHA256 == "" {
		return thawed
	}
	key, ok := r.freezerKey(s, r.call.Approval.ArgumentsSHA256)
	if !ok {
		return nil
	}
	if thawed = r.host.frozen.take(key); thawed == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.thawed, r.thawedKey = thawed, key
	r.repairs, r.filtering.changed = thawed.repairs, slices.Clone(thawed.filters)
	return thawed
}

// refreeze gives back final arguments that were taken for a call that was not executed.
func (r *run) refreeze() {
	r.mu.Lock()
	thawed, key := r.thawed, r.thawedKey
	r.thawed = nil
	r.mu.Unlock()
	if thawed != nil {
		r.host.frozen.keep(key, *thawed)
	}
}

// keepFrozen keeps the final arguments of a call for its approved repeat, and puts them into the answer that asks for it.
func (r *run) keepFrozen(s submission, final arguments.Parsed, asked *tool.Error) {
	digest := digestOf(final)
	asked.ArgumentsSHA256 = digest
	if canonical := final.Canonical(); len(canonical) <= maxShownArguments {
		asked.Arguments = json.RawMessage(canonical)
	} else {
		asked.Message += "; the final arguments are too large to be shown, so that no person can approve them: put large data " +
			"into a file of the workspace and pass its path"
	}
	key, ok := r.freezerKey(s, digest)
	r.mu.Lock()
	thawed := r.thawed != nil // finishWithout gives them back
	kept := frozen{final: final, repairs: r.repairs, filters: slices.Clone(r.filtering.changed)}
	r.mu.Unlock()
	if ok && !thawed {
		r.host.frozen.keep(key, kept)
	}
}
