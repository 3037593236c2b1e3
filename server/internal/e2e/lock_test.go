package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/tool"
)

// If the lock file refuses a changed executable, the change has no effect. `why` shows both digests
// and the command that allows the change. After that one command the new executable is in service,
// and no call has failed.
func TestLockLetsAChangeIn(t *testing.T) {
	t.Parallel()
	h := locked(t)
	beside := workBeside(t, h)
	old := info(t, h, "calculator").Digest
	install(t, h, "calculator", "plugins/calculator", "changed")
	eventually.Holds(t, "the change is kept out", func() bool { return info(t, h, "calculator").Refusal != nil })
	out := info(t, h, "calculator")
	if out.Digest != old || out.PinnedDigest != old || !out.Refusal.Locked || out.Refusal.Digest == old {
		t.Errorf("the plugin is %+v, its refusal %+v", out, out.Refusal)
	}
	h.do(t, "why", "calculator").says(t, old, out.Refusal.Digest, "lock file   allows this digest", "toolhost lock calculator")
	h.do(t, "plugins").says(t, "run `toolhost lock calculator`")

	h.follow(t, "calculator", "toolhost lock calculator").says(t, "allowed calculator", "it is in service")
	now := info(t, h, "calculator")
	if now.Digest != out.Refusal.Digest || now.PinnedDigest != now.Digest || now.Refusal != nil || now.PreviousDigest != old {
		t.Errorf("after the command the plugin is %+v, its refusal %+v", now, now.Refusal)
	}
	h.do(t, "reload").exits(t, 0)
	beside.stop(t)
	if says := h.lockFile(t); !strings.Contains(says, now.Digest) || strings.Contains(says, old) {
		t.Errorf("the lock file says\n%s", says)
	}
	h.stop(t)
	h.serve(t, "--locked", "--lock-file", filepath.Join(h.home, "toolhost.lock"))
	if again := info(t, h, "calculator"); again.Digest != now.Digest || again.State != tool.PluginEnabled {
		t.Errorf("after a restart the plugin is %+v", again)
	}
}

// For an executable that does not start, the command gives the reason. The running version and the
// lock file stay the same.
func TestLockDoesNotLetInWhatDoesNotStart(t *testing.T) {
	t.Parallel()
	h := locked(t)
	beside := workBeside(t, h)
	before, old := h.lockFile(t), info(t, h, "calculator").Digest
	broken := filepath.Join(h.home, "broken")
	write(t, broken, "#!/bin/sh\necho a broken build >&2\nexit 7\n", 0o755)
	if err := os.Rename(broken, filepath.Join(h.plugins, "calculator")); err != nil {
		t.Fatal(err)
	}
	eventually.Holds(t, "the change is kept out", func() bool { return info(t, h, "calculator").Refusal != nil })
	r := h.do(t, "lock", "calculator")
	r.exits(t, 3)
	r.says(t, "1 plugin was not taken over", "a broken build")
	if now := info(t, h, "calculator"); now.Digest != old || now.State != tool.PluginEnabled {
		t.Errorf("the plugin is %+v", now)
	}
	if after := h.lockFile(t); after != before {
		t.Errorf("the lock file said\n%s\nand says\n%s", before, after)
	}
	beside.stop(t)
}

// The lock command allows a new plugin under its declared name, whatever its file name, but not
// under the name of another plugin in service.
func TestLockLetsANewPluginIn(t *testing.T) {
	t.Parallel()
	h := locked(t)
	install(t, h, "a.new.tool", "faultplugin", "")
	eventually.Holds(t, "the new plugin is seen", func() bool { return h.tells(t, "does not know a.new.tool") })
	h.do(t, "plugins").says(t, "does not know a.new.tool")
	h.follow(t, "a.new.tool", "toolhost lock a.new.tool").says(t, "allowed fault", "it is in service")
	h.do(t, "call", "fault", `{"do":"echo","text":"welcome"}`).says(t, "welcome")
	if says := h.lockFile(t); !strings.Contains(says, `"fault": {version: "1"`) || strings.Contains(says, "new") {
		t.Errorf("the lock file says\n%s", says)
	}
	before := h.lockFile(t)
	install(t, h, "impostor", "faultplugin", "another")
	eventually.Holds(t, "the impostor is seen", func() bool { return h.tells(t, "does not know impostor") })
	r := h.do(t, "lock", "impostor")
	r.exits(t, 3)
	r.says(t, `it calls itself "fault", and that is `+filepath.Join(h.plugins, "a.new.tool"))
	if now := h.lockFile(t); now != before {
		t.Errorf("the lock file said\n%s\nand says\n%s", before, now)
	}
	h.do(t, "call", "fault", `{"do":"echo","text":"still here"}`).says(t, "still here")
}

// locked returns a running toolhost with --locked and a lock file that pins the plugins of prepare.
// The calculator is a copy, so that a test can replace its file.
func locked(t *testing.T) *toolhost {
	t.Helper()
	h := prepare(t)
	install(t, h, "calculator", "plugins/calculator", "")
	h.serve(t)
	h.do(t, "lock", "--file", filepath.Join(h.home, "toolhost.lock")).exits(t, 0)
	h.stop(t)
	h.serve(t, "--locked", "--lock-file", filepath.Join(h.home, "toolhost.lock"))
	return h
}

// follow runs the command that `why` suggests for a plugin, and checks that it is the expected one.
func (h *toolhost) follow(t *testing.T, plugin, want string) result {
	t.Helper()
	var why struct {
		Remedies []struct{ Command string }
	}
	if err := json.Unmarshal([]byte(h.do(t, "why", plugin, "-o", "json").stdout), &why); err != nil {
		t.Fatal(err)
	}
	for _, r := range why.Remedies {
		if r.Command == want {
			done := h.do(t, strings.Fields(want)[1:]...)
			done.exits(t, 0)
			return done
		}
	}
	t.Fatalf("`why` says to do %+v, want %q", why.Remedies, want)
	return result{}
}

func (h *toolhost) lockFile(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(h.home, "toolhost.lock"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
