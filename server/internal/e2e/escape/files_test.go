//go:build linux && (amd64 || arm64)

package escape_test

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// files are attempts to read or change files outside by their paths. The attempts write, move and
// remove only files of the test, and only open files of the machine. So they harm nothing where a
// layer is missing.
func (h *toolhost) files() []attempt {
	secret, inside := h.path("outside/secret.txt"), h.path("work/inside")
	toolhost, victim := strconv.Itoa(h.cmd.Process.Pid), strconv.Itoa(h.victim.Process.Pid)
	up := strings.Repeat("../", 40)
	reading := func(name string, path string) attempt {
		return attempt{name: name, do: "read", with: []string{path}, layers: byFiles}
	}
	opening := func(name string, path string) attempt {
		return attempt{name: name, do: "open", with: []string{path}, layers: byFiles}
	}
	changing := func(name string, path string) attempt {
		return attempt{name: name, do: "change", with: []string{path}, layers: byFiles}
	}
	writing := func(name string, path string) attempt {
		return attempt{name: name, do: "write", with: []string{path}, layers: byFiles}
	}
	return []attempt{
		reading("absolute path", secret),
		reading("dots", h.path("work")+"/../outside/secret.txt"),
		reading("many dots", inside+"/"+up+secret),
		reading("sibling with the same prefix", h.path("work-other/secret.txt")),
		reading("NUL in a path", h.path("work/secret.txt")+"\x00/../../outside/secret.txt"),
		reading("very long path", h.path("work")+strings.Repeat("/.", 2000)+"/../outside/secret.txt"),
		reading("path of more than 4096 bytes", h.path("work")+strings.Repeat("/.", 3000)+"/../outside/secret.txt"),
		reading("root of a process", "/proc/self/root"+secret),
		reading("root of the first process", "/proc/1/root"+secret),
		reading("folder of the first process", "/proc/1/cwd"+secret),
		reading("folder of this process", "/proc/self/cwd/"+up+secret),
		reading("root of a thread", "/proc/thread-self/root"+secret),
		reading("root of toolhost", "/proc/"+toolhost+"/root"+secret),
		reading("root of another process", "/proc/"+victim+"/root"+secret),
		reading("environment of toolhost", "/proc/"+toolhost+"/environ"),
		reading("environment of another process", "/proc/"+victim+"/environ"),
		opening("memory of toolhost", "/proc/"+toolhost+"/mem"),
		reading("descriptors of toolhost", "/proc/"+toolhost+"/fd/3"),
		opening("memory of the machine", "/proc/kcore"),
		opening("messages of the kernel", "/proc/kmsg"),
		reading("keys", "/proc/keys"),
		{name: "how the kernel was started", do: "read", with: []string{"/proc/cmdline"}, layers: byMounts},
		{name: "settings of this machine", do: "run", with: []string{"/bin/sh", "-c", "ls -A /usr/local/etc 2>&1; echo listed"}, layers: byMounts,
			harmless: "listed", unless: unlessEmpty("/usr/local/etc")},
		reading("pages and their groups", "/proc/kpagecgroup"),
		opening("memory device", "/dev/mem"),
		opening("messages of the kernel, by their device", "/dev/kmsg"),
		opening("disk", "/dev/vda"),
		opening("other disk", "/dev/sda"),
		opening("terminal", "/dev/tty"),
		opening("console", "/dev/console"),
		opening("passwords", "/etc/shadow"),
		opening("key of root", "/root/.ssh/id_ed25519"),
		reading("key of the user", h.path("home/.ssh/id_ed25519")),
		reading("secret of a tool", h.path("secrets/token")),
		reading("settings", h.path("toolhost.yaml")),
		reading("audit log", h.path("state/audit.jsonl")),
		reading("shared memory of the host", h.shmFile()),
		{name: "home of the user", do: "list", with: []string{h.path("home")}, layers: byFiles},
		{name: "state of toolhost", do: "list", with: []string{h.path("state")}, layers: byFiles, harmless: "store", unless: "\n"}, // it contains the plugin's own copy
		{name: "folders of the machine", do: "list", with: []string{"/root"}, layers: byFiles},
		{name: "devices and drivers", do: "list", with: []string{"/sys"}, layers: byFiles},
		{name: "control groups", do: "list", with: []string{"/sys/fs/cgroup"}, layers: byFiles},
		writing("writing outside", h.path("outside/new")),
		writing("writing to a file outside", secret),
		writing("writing settings", h.path("toolhost.yaml")),
		writing("writing a plugin", h.path("plugins/fs")),
		writing("adding a plugin", h.path("plugins/new")),
		writing("writing the audit log", h.path("state/audit.jsonl")),
		changing("writing a system's program", "/usr/bin/true"),
		changing("writing users", "/etc/passwd"),
		changing("core pattern", "/proc/sys/kernel/core_pattern"),
		changing("name of the host", "/proc/sys/kernel/hostname"),
		changing("modprobe's path", "/proc/sys/kernel/modprobe"),
		changing("helpers of the kernel", "/proc/sys/kernel/hotplug"),
		changing("magic keys", "/proc/sysrq-trigger"),
		changing("memory of this process", "/proc/self/mem"),
		changing("its place in the order of being killed", "/proc/self/oom_score_adj"),
		changing("moving to another control group", "/sys/fs/cgroup/cgroup.procs"),
		changing("moving to another control group of version 2", "/sys/fs/cgroup/unified/cgroup.procs"),
		changing("disk that is changed", "/dev/vda"),
		{name: "hard link to a file outside", do: "link", with: []string{secret, inside + "/hard"}, layers: byFiles},
		{name: "hard link to a system's program", do: "link", with: []string{"/usr/bin/true", inside + "/hard"}, layers: byFiles},
		{name: "hard link to a descriptor's file", do: "call", with: []string{
			n(unix.SYS_LINKAT), n(unix.AT_FDCWD), "text:/proc/self/fd/../root" + secret, n(unix.AT_FDCWD), "text:" + inside + "/hard", n(unix.AT_SYMLINK_FOLLOW),
		}, layers: byFiles},
		{name: "symbolic link that leads out", do: "run", with: []string{
			"/bin/sh", "-c", "ln -sf " + secret + " " + inside + "/out && cat " + inside + "/out; s=$?; rm -f " + inside + "/out; exit $s",
		}, layers: byFiles},
		{name: "making a device", do: "call", with: []string{
			n(unix.SYS_MKNODAT), n(unix.AT_FDCWD), "text:" + inside + "/mem", n(unix.S_IFCHR | 0o666), n(0x0101), "0",
		}, layers: byRights},
		{name: "making a disk", do: "call", with: []string{
			n(unix.SYS_MKNODAT), n(unix.AT_FDCWD), "text:" + inside + "/disk", n(unix.S_IFBLK | 0o666), n(0xfe00), "0",
		}, layers: byRights},
		{name: "lending the owner's rights", do: "run", with: []string{"/bin/chmod", "4755", inside + "/file.txt"}, layers: byCalls},
		{name: "lending the group's rights", do: "run", with: []string{"/bin/chmod", "2755", inside + "/file.txt"}, layers: byCalls},
		{name: "program in memory", do: "memory", with: []string{n(unix.SYS_MEMFD_CREATE), "/bin/cat", "/proc/self/status"},
			harmless: "NoNewPrivs:\t1", layers: byRights}, // it may run, in the same sandbox
		{name: "environment of this process", do: "environment", harmless: "TOOLHOST_INSTANCE=", unless: "SECRET="},
		{name: "inherited descriptors", do: "descriptors", harmless: "0 /dev/null", unless: h.base},
		{name: "moving a file out", do: "rename", with: []string{inside + "/file.txt", h.path("outside/moved")}, layers: byFiles},
		{name: "moving a file in", do: "rename", with: []string{secret, inside + "/moved"}, layers: byFiles},
		{name: "removing a file outside", do: "remove", with: []string{secret}, layers: byFiles},
		{name: "moving the workspace", do: "rename", with: []string{h.path("work"), h.path("gone")}, layers: byFiles},
	}
}

// unlessEmpty returns the name of an entry of a folder of the machine; "" if the folder is empty.
func unlessEmpty(folder string) string {
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) == 0 {
		return ""
	}
	return entries[0].Name()
}

// n returns a number in the escapeplugin's form.
func n(v int) string { return strconv.Itoa(v) }
