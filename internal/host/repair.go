package host

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/toolhost/toolhost/internal/arguments"
	"github.com/toolhost/toolhost/tool"
)

// repairsKey is where a result's metadata says what was changed in the arguments: a JSON array of arguments.Repair.
const repairsKey = "toolhost.repairs"

// maxReplacement is how large repaired arguments can be where the plugin has already seen the text that they replace:
// they travel in one message, of at most 4 MiB.
const maxReplacement = 4<<20 - 4<<10

// noteRepairs keeps what was changed in the arguments for the result. It returns false if the arguments that came of
// it cannot be sent, so that the call goes on with the given ones.
func (r *run) noteRepairs(mended arguments.Parsed, repairs []arguments.Repair) bool {
	list, err := json.Marshal(repairs)
	if err != nil || r.tool.Spec.PartialArguments && len(mended.Canonical()) > maxReplacement {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.repairs = list
	return true
}

// undeclaredKey is where a result's metadata says which arguments seem to be misspelled: a JSON array of arguments.Undeclared.
const undeclaredKey = "toolhost.undeclared"

// noteUndeclared keeps which arguments seem to be misspelled for the result. It returns an error if the operator has such
// calls refused.
func (r *run) noteUndeclared(all []arguments.Undeclared) error {
	if len(all) == 0 {
		return nil
	}
	if r.host.cfg.RefuseMisspelled {
		return arguments.Refusal(all)
	}
	list, err := json.Marshal(all)
	if err != nil { // cannot be: they are texts
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.undeclared = list
	return nil
}

// reservedPrefix begins the keys of a result's metadata that are toolhost's alone.
const reservedPrefix = "toolhost."

// tellRepairs adds what was changed in the arguments, and what seems to be misspelled, to a call's outcome, and takes out
// what a plugin said in toolhost's name.
func (r *run) tellRepairs(outcome *tool.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	metadata := maps.Clone(outcome.Result.Metadata)
	maps.DeleteFunc(metadata, func(key string, _ json.RawMessage) bool { return strings.HasPrefix(key, reservedPrefix) })
	if metadata == nil && (r.repairs != nil || r.undeclared != nil) {
		metadata = map[string]json.RawMessage{}
	}
	if r.repairs != nil {
		metadata[repairsKey] = r.repairs
	}
	if r.undeclared != nil {
		metadata[undeclaredKey] = r.undeclared
	}
	outcome.Result.Metadata = metadata
}
