//go:build linux && (amd64 || arm64)

package escape_test

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const renameat2 = unix.SYS_RENAMEAT2

// escaped is the output of a command that got out.
const escaped = "GOT OUT"

// commands are attempts of the shell tool, by what is tried. Each prints escaped or the canary if
// it succeeds, and harms only files of the test.
func (h *toolhost) commands() map[string]string {
	secret, pid := h.path("outside/secret.txt"), n(h.cmd.Process.Pid)
	succeeds := func(command string) string { return "{ " + command + "; } && echo " + escaped }
	changes := func(path string) string {
		return succeeds(": 2>/dev/null >>" + path) // it writes nothing
	}
	return map[string]string{
		"absolute path":                    "cat " + secret,
		"dots":                             "cat ../outside/secret.txt",
		"finding the secret":               "timeout 5 grep -rs canary- /dev/shm /etc /home /root /run /tmp /var",
		"finding it in the environment":    "cat /proc/*/environ | tr '\\0' '\\n' | grep canary-",
		"own environment":                  "env | grep -i -e canary -e '^SECRET'",
		"key of the user":                  "cat " + h.path("home/.ssh/id_ed25519") + " ~/.ssh/*",
		"secret of a tool":                 "cat " + h.path("secrets/token"),
		"state of toolhost":                "cat " + h.path("state") + "/*.* | grep -a . && echo " + escaped,
		"root of the first process":        "ls /proc/1/root/home && echo " + escaped,
		"link that leads out":              "ln -s " + secret + " l; cat l; rm -f l",
		"hard link":                        succeeds("ln " + secret + " hard"),
		"writing outside":                  changes(h.path("outside/new")),
		"writing a plugin":                 changes(h.path("plugins/fs")),
		"writing its own copy":             succeeds("for f in " + h.path("state/store") + "/*/files/shell; do chmod u+w $f; : >>$f || exit 1; done 2>/dev/null"),
		"writing through its program":      changes("/proc/$PPID/exe"),
		"writing through a descriptor":     changes("/proc/$PPID/fd/1/../../x"),
		"writing the memory of the plugin": "p=$(cut -d' ' -f4 /proc/$PPID/stat); " + changes("/proc/$p/mem"),
		"root by sudo":                     succeeds("sudo -n true || pkexec true"),
		"user namespace":                   succeeds("unshare -U true"),
		"user namespace as root":           succeeds("unshare -Ur mount -t tmpfs none /tmp"),
		"mount namespace":                  succeeds("unshare -m true"),
		"namespaces of another process":    succeeds("nsenter -t 1 -m true"),
		"mount":                            "mount -t nosuchfs none . 2>&1 | grep -q -e denied -e permitted -e superuser || echo " + escaped,
		"root folder":                      succeeds("chroot / true"),
		"device":                           succeeds("mknod d1 c 1 1"),
		"disk":                             succeeds("mknod d2 b 254 0"),
		"set-user bit":                     succeeds("cp /bin/true t1 && chmod u+s t1") + "; rm -f t1",
		"set-user bit by install":          "install -m 4755 /bin/true t2; test -u t2 && echo " + escaped + "; rm -f t2",
		"set-user bit by tar":              `mkdir d3; cp /bin/true d3/t3; tar -C d3 -c --mode=4755 t3 | tar -x -p; test -u t3 && echo ` + escaped + `; rm -rf t3 d3`,
		"signal to toolhost":               succeeds("kill -0 " + pid),
		"signal to the first process":      "kill -0 1 && grep -aq serve /proc/1/cmdline && echo " + escaped,
		"signal to all":                    "kill -WINCH -1",
		"limits of toolhost":               succeeds("prlimit --pid " + pid + " --core=0"),
		"service of the host":              "timeout 5 bash -c 'cat </dev/tcp/" + strings.Replace(h.tcp, ":", "/", 1) + "'",
		"service of the host by UDP":       "timeout 5 bash -c 'exec 3<>/dev/udp/" + strings.Replace(h.udp, ":", "/", 1) + "; echo x >&3; read -t 0.1 x <&3; echo $x'",
		"the world":                        succeeds("timeout 5 bash -c 'exec 3<>/dev/tcp/192.0.2.1/80'"),
		"names":                            succeeds("timeout 5 getent ahosts example.org"),
		"settings of the network":          succeeds("ip link set lo up"),
		"core pattern":                     changes("/proc/sys/kernel/core_pattern"),
		"order of being killed":            changes("/proc/self/oom_score_adj"),
		"control group":                    succeeds("timeout 5 find / -xdev -name cgroup.procs 2>/dev/null | grep -q ."),
		"shared memory of the host":        "cat " + h.shmFile(),
		"shared memory of system V":        "ipcs -m | grep -i 70726973 && echo " + escaped,
		"log of the kernel":                succeeds("dmesg"),
		"API of toolhost":                  succeeds("test -e " + h.socket),
		"program of toolhost":              succeeds("test -e " + bin),
		"sockets of the machine":           "grep -F " + h.socket + " /proc/net/unix && echo " + escaped,
		"socket of another plugin":         "cat /proc/net/unix; grep -F " + h.neighbourSocket + " /proc/net/unix && echo " + escaped,
		"folders of other plugins":         "ls " + h.neighbourTmp + " && echo " + escaped,
		"loader":                           succeeds("LD_PRELOAD=/nothing.so /lib64/ld-linux-x86-64.so.2 " + secret),
	}
}

// testShell makes attempts as commands of the tool shell.
func (h *toolhost) testShell(t *testing.T) {
	for name, command := range h.commands() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h.tryCommand(t, command)
		})
	}
}

func (h *toolhost) tryCommand(t *testing.T, command string) {
	t.Helper()
	outcome, err := h.call(t, "shell", map[string]any{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	text := outcome.Result.Text()
	if !strings.Contains(text, `"exit_code"`) {
		t.Fatalf("%s: it was not run: %s", command, clip(text))
	}
	if strings.Contains(text, escaped) || leaks(text, h.canary) {
		t.Errorf("%s: it got out: %s", command, clip(text))
		return
	}
	t.Logf("%s: denied: %s", command, clip(text))
}
