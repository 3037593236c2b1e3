package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
)

// kernel says which system this is.
func kernel() finding {
	f := finding{Check: "system", State: stateOK, Found: runtime.GOOS + " on " + runtime.GOARCH}
	if runtime.GOOS != "linux" {
		f.State, f.Costs, f.Remedy = statePartial, "plugins run without a sandbox", "use Linux on amd64 or arm64"
		return f
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		f.Found += ", kernel " + strings.TrimSpace(string(release))
	}
	return f
}

// clock says whether the clock can be right. It can be no earlier than this program.
func clock() finding {
	now := time.Now()
	f := finding{Check: "clock", State: stateOK, Found: now.Format("2006-01-02 15:04:05 MST")}
	if self, err := os.Executable(); err == nil {
		if info, err := os.Stat(self); err == nil && info.ModTime().After(now.Add(24*time.Hour)) {
			f.State, f.Costs = statePartial, "it is earlier than the file of this program: certificates and tokens are refused, and times in logs are wrong"
			f.Remedy = "set the clock, and keep it right by NTP"
		}
	}
	return f
}

// openFiles says how many files toolhost may have open. Go raises the soft limit to the hard one.
func openFiles() finding {
	const enough = 4096 // a plugin takes about ten, a connection one
	f := finding{Check: "ulimit: open files", State: stateOK, Found: "unknown"}
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return f
	}
	f.Found = strconv.FormatUint(uint64(limit.Max), 10)
	if limit.Max < enough {
		f.State, f.Costs = statePartial, "toolhost has room for few plugins and connections at a time"
		f.Remedy = fmt.Sprintf("raise the hard limit to %d or more: `LimitNOFILE=` in the unit, or `ulimit -Hn`", enough)
	}
	return f
}

// places says whether the folders of toolhost can be used.
func places(ctx context.Context, o Options) []finding {
	found := []finding{folder("state folder", o.State, "toolhost does not start", stateFatal, "--state")}
	if o.Workspace.Backend == config.LocalBackend && o.Workspace.Folder != "" {
		found = append(found, folder("workspace", o.Workspace.Folder, "tools cannot write files", statePartial, "--workspace"))
	}
	if a, err := address.ParseListener(o.Listen); err == nil && a.IsUnix() {
		found = append(found, socket(ctx, a))
	}
	return found
}

// folder says whether a folder, or the one in which it will be made, can be written, and how much
// room it has.
func folder(check, dir, costs, state, flag string) finding {
	const least = 1 << 30
	f := finding{Check: check, State: stateOK, Found: dir}
	there := existing(dir)
	free, size := cli.DiskSpace(there)
	if size > 0 {
		f.Found += fmt.Sprintf(", %s free of %s", cli.Size(uint64(free)), cli.Size(uint64(size)))
	}
	const writeAndEnter = 2 | 1 // W_OK and X_OK of access(2)
	switch info, err := os.Stat(there); {
	case err == nil && !info.IsDir():
		f.State, f.Costs, f.Remedy = state, costs+": "+there+" is no folder", "name another folder with "+flag
	case syscall.Access(there, writeAndEnter) != nil:
		f.State, f.Costs, f.Remedy = state, costs+": this user cannot write "+there, "give the folder to the user, or name another one with "+flag
	case size > 0 && free < least:
		f.State, f.Costs, f.Remedy = statePartial, "when the disk is full, toolhost takes no new calls", "make room, or name a folder on another disk with "+flag
	}
	return f
}

// existing returns the nearest existing path at or above dir.
func existing(dir string) string {
	for !Exists(dir) && filepath.Dir(dir) != dir {
		dir = filepath.Dir(dir)
	}
	return dir
}

// socket says whether toolhost can listen in the folder of its socket, by listening beside it.
func socket(ctx context.Context, a address.Address) finding {
	f := finding{Check: "socket", State: stateOK, Found: fmt.Sprintf("%s, %d bytes", a.Path(), len(a.Path()))}
	dir := filepath.Dir(a.Path())
	if !Exists(dir) {
		defer os.Remove(dir) // the listener makes it
	}
	beside, err := address.Unix(filepath.Join(dir, fmt.Sprintf("d%d", os.Getpid())))
	if err == nil {
		var l *address.Listener
		if l, err = beside.Listen(ctx, cli.Toolhost); err == nil {
			err = l.Close()
		}
	}
	if err != nil {
		f.State, f.Found, f.Costs = stateFatal, err.Error(), "toolhost does not start"
		f.Remedy = "name another socket with `toolhost serve --listen unix:///PATH`, or set XDG_RUNTIME_DIR to a folder of this user"
	}
	return f
}

// interpreters says which programs are there that plugins need.
func interpreters(ctx context.Context) []finding {
	return []finding{
		interpreter(ctx, "python3", "--version", 3, 11, "plugins in Python do not start", "some plugins may not start"),
		interpreter(ctx, "node", "--version", 22, 0, "plugins in TypeScript and JavaScript do not start", "plugins start, but no test shows that all of the SDK works"),
		interpreter(ctx, "go", "version", 1, 26, "plugins in Go cannot be built here; built ones run", "go may have to fetch a newer one to build plugins; built ones run"),
	}
}

var versionNumber = regexp.MustCompile(`(\d+)\.(\d+)(\.\d+)?`)

// interpreter says which version of a program is in PATH, where plugins' programs are looked up
// too. costs says what does not work without the program, and old what may not work with an older
// one.
func interpreter(ctx context.Context, name, argument string, major, minor int, costs, old string) finding {
	needed := fmt.Sprintf("%d.%d", major, minor)
	f := finding{Check: name, State: stateMissing, Found: "not in PATH", Costs: costs, Remedy: fmt.Sprintf("install %s %s or later, and put it into toolhost's PATH", name, needed)}
	path, err := exec.LookPath(name)
	if err != nil {
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	text, err := exec.CommandContext(ctx, path, argument).Output()
	found := versionNumber.FindStringSubmatch(string(bytes.TrimSpace(text)))
	if err != nil || found == nil {
		f.Found = fmt.Sprintf("%s, which does not tell its version: %v", path, errors.Join(err))
		return f
	}
	f.Found = path + ", " + found[0]
	a, _ := strconv.Atoi(found[1]) // digits
	b, _ := strconv.Atoi(found[2])
	if a < major || a == major && b < minor {
		f.State, f.Costs = statePartial, "it is older than "+needed+", with which the SDK is tested: "+old
		return f
	}
	return finding{Check: name, State: stateOK, Found: f.Found}
}
