package limits

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// supervisor is the name of the group into which toolhost moves if it has to leave its own: in
// version 2, a group that delegates controllers must have no processes. systemd makes it with
// DelegateSubgroup=supervisor.
const supervisor = "supervisor"

// findMounts returns the trees of control groups, and toolhost's place in them.
func findMounts() ([]mount, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("looking for control groups: %w", err)
	}
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, fmt.Errorf("looking for control groups: %w", err)
	}
	return parseMounts(string(mounts), string(groups)), nil
}

// parseMounts combines two files: the mounts of trees, and this process's group in each tree.
func parseMounts(mountinfo, cgroup string) []mount {
	paths := map[string]string{} // by controller; "" is version 2
	for line := range strings.Lines(cgroup) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		for name := range strings.SplitSeq(fields[1], ",") {
			paths[name] = fields[2]
		}
	}
	var found []mount
	for line := range strings.Lines(mountinfo) {
		before, after, ok := strings.Cut(line, " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !ok || len(left) < 5 || len(right) < 3 || !strings.HasPrefix(right[0], "cgroup") {
			continue
		}
		m, key := mount{version: 2}, ""
		if right[0] == "cgroup" {
			m.version = 1
			for option := range strings.SplitSeq(right[2], ",") {
				if _, known := paths[option]; known {
					m.controllers = append(m.controllers, option)
					key = option
				}
			}
			if key == "" {
				continue
			}
		}
		rel, ok := below(left[3], paths[key])
		if !ok {
			continue
		}
		m.home = filepath.Join(unescape(left[4]), rel)
		if !slices.ContainsFunc(found, func(other mount) bool { return other.home == m.home }) {
			found = append(found, m)
		}
	}
	return found
}

// below returns the path relative to root.
func below(root, path string) (string, bool) {
	if path == "" || strings.HasPrefix(path, "/..") {
		return "", false
	}
	if root == "/" || root == path {
		return strings.TrimPrefix(path, root), true
	}
	rel, ok := strings.CutPrefix(path, root+"/")
	return rel, ok
}

// unescape decodes the escapes of mountinfo.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// delegate returns the group of version 2 below which toolhost may make its own groups, and the
// controllers that those can use. It records why other controllers are missing.
func delegate(home string, missing map[string]string) (string, []string) {
	if filepath.Base(home) == supervisor {
		home = filepath.Dir(home)
	}
	available, err := os.ReadFile(filepath.Join(home, "cgroup.controllers"))
	if err != nil {
		return home, nil
	}
	var usable []string
	for _, name := range strings.Fields(string(available)) {
		if slices.Contains(controllers[:], name) {
			usable = append(usable, name)
		}
	}
	enabled := enable(home, usable, missing)
	if len(enabled) < len(usable) && alone(home) && stepAside(home) == nil {
		enabled = enable(home, usable, missing)
	}
	return home, enabled
}

// enable enables controllers for the groups below dir and returns those that are enabled.
func enable(dir string, names []string, missing map[string]string) []string {
	var enabled []string
	for _, name := range names {
		if err := write(dir, "cgroup.subtree_control", "+"+name); err != nil {
			missing[name] = fmt.Sprintf("toolhost cannot enable the controller %s in %s: %v; "+
				"let nothing but toolhost run in that group, or use systemd's Delegate=yes and DelegateSubgroup=%s", name, dir, err, supervisor)
			continue
		}
		enabled = append(enabled, name)
	}
	return enabled
}

// alone reports whether this process is the only one in the group.
func alone(dir string) bool {
	pids, err := readPIDs(dir)
	return err == nil && len(pids) == 1 && pids[0] == os.Getpid()
}

// stepAside moves this process one group down.
func stepAside(dir string) error {
	down := filepath.Join(dir, supervisor)
	if err := os.Mkdir(down, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return write(down, "cgroup.procs", strconv.Itoa(os.Getpid()))
}

// write writes to an existing file of a group.
func write(dir, name, text string) error {
	file, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// readPIDs returns the processes in one group. It leaves out those outside of this PID namespace,
// which are listed as 0.
func readPIDs(dir string) ([]int, error) {
	text, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return nil, err
	}
	var pids []int
	for line := range bytes.Lines(text) {
		if pid, err := strconv.Atoi(string(bytes.TrimSpace(line))); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// counter returns the number of a name from a file of lines "name number".
func counter(dir, file, name string) (uint64, error) {
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return 0, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), " "); ok && key == name {
			return strconv.ParseUint(value, 10, 64)
		}
	}
	return 0, fmt.Errorf("%s in %s has no %s", file, dir, name)
}

// killGroup sends SIGKILL to every process in the group and, where the kernel has cgroup.kill, to
// those below.
func killGroup(dir string) error {
	err := write(dir, "cgroup.kill", "1")
	if err == nil {
		return nil
	}
	pids, err := readPIDs(dir)
	if err != nil {
		return err
	}
	for _, pid := range pids {
		if pid > 1 && pid != os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone
		}
	}
	return nil
}

// removeTree kills the processes in a group and below, and removes the groups, the lowest first.
func removeTree(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("removing the control group %s: %w", dir, err)
	}
	for _, entry := range entries {
		if entry.IsDir() {
			err = errors.Join(err, removeTree(filepath.Join(dir, entry.Name())))
		}
	}
	return errors.Join(err, removeGroup(dir, removePatience))
}

// removeGroup kills the processes in a group and removes the group once it is empty. A killed
// process takes a moment to leave the group, and a process that was being started may enter it
// late.
func removeGroup(dir string, patience time.Duration) error {
	const pause = time.Millisecond
	for deadline := time.Now().Add(patience); ; time.Sleep(pause) {
		err := syscall.Rmdir(dir)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if !errors.Is(err, syscall.EBUSY) || time.Now().After(deadline) {
			return fmt.Errorf("removing the control group %s: %w", dir, err)
		}
		if err := killGroup(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("emptying the control group %s: %w", dir, err)
		}
	}
}
