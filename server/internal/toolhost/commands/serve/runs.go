package serve

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/toolhost/toolhost/server/internal/store/atomicfile"
	"github.com/toolhost/toolhost/server/internal/toolhost/reaper"
)

// RunsFile has the toolhosts that have used the state folder and are not known to be gone. A backup
// does not have it.
const RunsFile = "node.runs"

// maxRuns bounds them. The oldest are dropped: nobody but an operator can say that they are gone.
const maxRuns = 100

// run is one start of a toolhost with a shared ledger, as the next one with the state folder needs
// to know it.
type run struct {
	Node  int64  `json:"node"`  // its number in the ledger
	Place string `json:"place"` // see placeOf
	Dir   string `json:"dir"`   // its run folder
	Token string `json:"token"` // the first part of the marks of its processes
}

// runs are this start of a toolhost and those before. Not safe for concurrent use.
type runs struct {
	path   string
	own    run
	before []run
	ended  []int64 // their numbers
}

// openRuns reads the earlier runs, notes this one, and ends what those before have left where this
// process sees it. The caller holds the lock of the state folder. nodeFile has the id of the
// folder.
func openRuns(nodeFile string, runtime *runtimeDir, logger *slog.Logger) (*runs, error) {
	r := &runs{path: filepath.Join(filepath.Dir(nodeFile), RunsFile)}
	r.own = run{Node: newNode(), Place: placeOf(nodeFile), Dir: runtime.runDir.Path(), Token: runtime.guard.Token()}
	data, err := os.ReadFile(r.path)
	if err == nil {
		err = json.Unmarshal(data, &r.before)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the earlier toolhosts of this state folder in %s: %w; remove the file if it is damaged: nobody but you can then say that they are gone", r.path, err)
	}
	if err := r.write(r.own); err != nil {
		return nil, err
	}
	for _, old := range r.before {
		if r.own.Place == "" || old.Place != r.own.Place {
			continue // its processes cannot be seen from here
		}
		if err := reaper.End(old.Dir, old.Token); err != nil {
			logger.Warn("processes of an earlier toolhost may be left; its calls stay under way", "error", err)
			continue
		}
		r.ended = append(r.ended, old.Node)
	}
	return r, nil
}

// settled notes that the ledger knows which runs have ended.
func (r *runs) settled() error {
	r.before = slices.DeleteFunc(r.before, func(old run) bool { return slices.Contains(r.ended, old.Node) })
	return r.write(r.own)
}

// withdraw removes this start, which has not become a node. Otherwise many refused starts would
// push out the runs before, whose ends the next start proves.
func (r *runs) withdraw() error { return r.write() }

func (r *runs) write(own ...run) error {
	all := append(slices.Clone(r.before), own...)
	data, err := json.Marshal(all[max(len(all)-maxRuns, 0):])
	if err == nil {
		err = atomicfile.Write(r.path, append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("noting the start of this toolhost: %w", err)
	}
	return nil
}

// newNode returns a number that no other node has.
func newNode() int64 {
	var random [8]byte
	rand.Read(random[:])
	return int64(binary.BigEndian.Uint64(random[:])>>1 | 1)
}

// placeOf returns what identifies where the processes of this toolhost can be seen: the start of
// the machine, the PID namespace, and the file in the state folder, which a copy of the folder does
// not share. Empty: it is not known.
func placeOf(nodeFile string) string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id") // only Linux has it
	if err != nil {
		return ""
	}
	processes, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	info, err := os.Stat(nodeFile)
	if err != nil {
		return ""
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%.36s %s %d:%d", boot, processes, stat.Dev, stat.Ino)
}
