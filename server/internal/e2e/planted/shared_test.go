package planted

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/e2e/programs"
)

// A shared toolhost may have other trust records than agentd, because it runs as another user or
// with another home. agentd asks it for the folders that its tools may write.
func TestAModelOfASharedToolhostCannotConfigureAgentd(t *testing.T) {
	eachUser(t, func(t *testing.T, w *world) {
		s := w.serveWith(t, []string{"XDG_STATE_HOME=" + w.path("etc/state")}, "--plugins", w.path("bin/plugins"))
		planted, harmlessly := w.path("ws/project/agentd.yaml"), []string{"--toolhost", s.addr}
		w.asks(t, "etc", writes("project/agentd.yaml", "max_runs: 5\n"), harmlessly...).ends(t, 0, "done")
		if _, err := os.ReadFile(planted); err != nil {
			t.Fatalf("the attack did not begin: %v", err)
		}
		w.asks(t, "etc", harmless, "--toolhost", s.addr, "--config", planted).ends(t, untrusted, "agentd.yaml is not trusted", "toolhost trust ")

		// agentd has recorded the folder. So it does not trust a file there even if this toolhost
		// is gone, or if the path leads through a link.
		s.stop(t)
		must(t, os.Symlink(planted, w.path("etc/linked.yaml")))
		for _, path := range []string{planted, w.path("etc/linked.yaml")} {
			w.asks(t, "etc", harmless, "--config", path).ends(t, untrusted, "could write earlier")
		}
	})
}

// A planted file cannot name another toolhost that denies that its tools may write there. agentd
// also asks the toolhost that it uses without the file.
func TestAPlantedFileCannotChooseTheToolhostThatIsAsked(t *testing.T) {
	eachUser(t, func(t *testing.T, w *world) {
		s := w.serveWith(t, []string{"XDG_STATE_HOME=" + w.path("etc/state")}, "--plugins", w.path("bin/plugins"), "--listen", "unix://"+w.path("run/toolhost/toolhost.sock"))
		path := w.write(t, "ws/project/agentd.yaml", "toolhost: unix://"+w.path("run/other.sock")+"\n")
		w.asks(t, "etc", harmless, "--config", path).ends(t, untrusted, "agentd.yaml is not trusted")
		s.stop(t)
	})
}

// A tool that writes the journal approves its own calls, so the journal must not be where the tools
// of a shared toolhost may write.
func TestTheJournalIsOutOfReachOfASharedToolhost(t *testing.T) {
	eachUser(t, func(t *testing.T, w *world) {
		s := w.serveWith(t, []string{"XDG_STATE_HOME=" + w.path("etc/state")}, "--plugins", w.path("bin/plugins"))
		w.asks(t, "etc", harmless, "--toolhost", s.addr, "--journal", w.path("ws/runs.db")).ends(t, 2, "approve their own calls", "--journal")
		w.asks(t, "etc", harmless, "--toolhost", s.addr).ends(t, 0, "all is well")
	})
}

// The journal is within reach of tools also if its path leads through a link that they can change,
// or if it has another name in their folder.
func TestNoNameOfTheJournalIsWithinReach(t *testing.T) {
	eachUser(t, func(t *testing.T, w *world) {
		s := w.serveWith(t, []string{"XDG_STATE_HOME=" + w.path("etc/state")}, "--plugins", w.path("bin/plugins"))
		must(t, os.Symlink(w.path("ws/runs.db"), w.path("etc/link.db")))
		must(t, os.Symlink(w.path("etc"), w.path("ws/turn")))
		must(t, os.Symlink(w.path("ws/turn"), w.path("etc/turn")))
		journal := w.path("etc/real.db")
		w.asks(t, "etc", harmless, "--toolhost", s.addr, "--journal", journal).ends(t, 0, "all is well")
		for _, path := range []string{"etc/link.db", "etc/turn/real.db", "etc/turn/new/runs.db"} {
			w.asks(t, "etc", harmless, "--toolhost", s.addr, "--journal", w.path(path)).ends(t, 2, "approve their own calls")
		}
		w.asks(t, "ws", harmless, "--toolhost", s.addr, "--journal", ".//runs.db").ends(t, 2, "approve their own calls")
		must(t, os.Link(journal, w.path("ws/real.db")))
		w.asks(t, "etc", harmless, "--toolhost", s.addr, "--journal", journal).ends(t, 2, "more than one name (hard links)")
	})
}

// A tool that writes the trust records trusts its own files. agentd refuses a toolhost whose tools
// may write the folder around them, unless the toolhost hides them from its tools.
func TestTheTrustRecordsAreOutOfReachOfASharedToolhost(t *testing.T) {
	eachUser(t, func(t *testing.T, w *world) {
		plants := writes(".local/state/toolhost/trust.json", "{}")
		s := w.serveWith(t, []string{"XDG_STATE_HOME=" + w.path("etc/state")}, "--plugins", w.path("bin/plugins"), "--workspace", w.path("home"))
		w.asks(t, "etc", plants, "--toolhost", s.addr, "--journal", w.path("etc/runs.db")).ends(t, 2, "they could trust their own files", "XDG_STATE_HOME")
		if _, err := os.Lstat(w.path("home/.local/state/toolhost/trust.json")); err == nil {
			t.Error("a tool has written the trust records")
		}
		s.stop(t)

		s = w.serveWith(t, nil, "--plugins", w.path("bin/plugins"), "--workspace", w.path("home"))
		w.asks(t, "etc", plants, "--toolhost", s.addr)
		if data, err := os.ReadFile(w.path("home/.local/state/toolhost/trust.json")); err != nil || string(data) == "{}" {
			t.Errorf("a tool has written the trust records: %s, %v", data, err)
		}
		w.asks(t, "etc", harmless, "--toolhost", s.addr).ends(t, 0, "all is well")
	})
}

// A planted file that names another toolhost is not used because the real one does not answer in
// time.
func TestAToolhostThatHangsIsNotIgnored(t *testing.T) {
	eachUser(t, func(t *testing.T, w *world) {
		path := w.write(t, "ws/project/agentd.yaml", "toolhost: unix://"+w.path("run/other.sock")+"\n")
		must(t, os.Mkdir(w.path("run/toolhost"), 0o755))
		hangs, err := net.Listen("unix", w.path("run/toolhost/toolhost.sock")) // accepts nothing
		must(t, err)
		defer hangs.Close()
		w.own(t)
		w.asks(t, "etc", harmless, "--config", path).ends(t, 3, "asking the toolhost at", "which folders its tools may write")
	})
}

// agentd serve outlives its toolhost. While tools of the next toolhost at the same address can
// write the journal, agentd makes no calls. It makes calls again when the operator has removed the
// cause.
func TestTheNextToolhostIsChecked(t *testing.T) {
	eachUser(t, func(t *testing.T, w *world) {
		flags := []string{"--plugins", w.path("bin/plugins")}
		state := []string{"XDG_STATE_HOME=" + w.path("etc/state")}
		s := w.serveWith(t, state, flags...)
		script, journal := w.write(t, "etc/script.yaml", harmless), w.path("home/keep/runs.db")
		must(t, os.Mkdir(filepath.Dir(journal), 0o700))
		w.own(t)
		ctx, cancel := context.WithCancel(t.Context())
		agentd := w.command(ctx, "etc", "agentd", "serve", "--toolhost", s.addr, "--model", "scripted:"+script, "--journal", journal, "--listen", "unix://"+w.path("run/a.sock"))
		line, exited, err := programs.Start(agentd)
		must(t, err)
		defer func() { cancel(); <-exited }() // killed
		if !strings.Contains(line, "is ready") {
			t.Fatalf("agentd says %q", line)
		}
		run := []string{"run", "--addr", "unix://" + w.path("run/a.sock"), "go"}
		w.run(t, "etc", "agentd", run...).ends(t, 0, "all is well")
		s.stop(t)
		s = w.serveWith(t, state, append(flags, "--workspace", w.path("home"))...)
		w.run(t, "etc", "agentd", run...).ends(t, 1, "another toolhost answers now")
		s.stop(t)

		other, linked := w.path("other"), w.path("home/keep/linked.db")
		must(t, errors.Join(os.Mkdir(other, 0o700), os.Link(journal, linked)))
		w.own(t)
		s = w.serveWith(t, state, append(flags, "--workspace", other)...)
		w.run(t, "etc", "agentd", run...).ends(t, 1, "another toolhost answers now", "more than one name")
		must(t, os.Remove(linked))
		w.run(t, "etc", "agentd", run...).ends(t, 0, "all is well")
		s.stop(t)
	})
}
