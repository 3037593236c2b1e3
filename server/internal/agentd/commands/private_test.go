package commands

import (
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/store/filelock"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
)

// privateFolders returns the folders of the world with names of private folders.
func (w *world) privateFolders() []string {
	w.t.Helper()
	found, err := filepath.Glob(filepath.Join(w.folder, folderPrefix+"*"))
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// The next agentd removes the folder of a killed one. It leaves folders that are locked, and
// folders that only have such a name.
func TestTheFolderOfAKilledRunIsRemovedByTheNext(t *testing.T) {
	w := newWorld(t)
	t.Setenv(noteEnv, filepath.Join(w.folder, "note"))
	t.Setenv("TMPDIR", w.folder)
	if err := os.Symlink(mustExecutable(t), filepath.Join(w.folder, program)); err != nil {
		t.Fatal(err)
	}
	script := w.script("turns: [{calls: [{id: a, tool: wait, arguments: {key: k}}]}]")
	killed := exec.Command(filepath.Join(w.folder, program), "run", "--model", script, "--journal", filepath.Join(w.folder, "killed.db"), "hi")
	killed.Env = append(os.Environ(), "HOME="+w.folder, "XDG_RUNTIME_DIR="+w.folder, "TOOLHOST_ADDR=")
	output := newOutput()
	killed.Stdout, killed.Stderr = output, output
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = killed.Process.Kill() })
	output.until(t, "→ wait")
	folders := w.privateFolders()
	if len(folders) != 1 {
		t.Fatalf("the folders of one run are %v", folders)
	}
	foreign := filepath.Join(w.folder, folderPrefix+"aaaaaaaaaa")
	if err := os.MkdirAll(filepath.Join(foreign, "work"), 0o700); err != nil {
		t.Fatal(err)
	}
	script = w.script(twoTurns)
	w.run("run", "--model", script, "hi").want(t, 0, "It said hi there.")
	if left := w.privateFolders(); !slices.Contains(left, folders[0]) {
		t.Fatalf("the folder of a run that goes on is gone; left are %v", left)
	}
	_ = killed.Process.Kill()
	_ = killed.Wait()
	awaitUnclaimed(t, folders[0])
	w.run("run", "--model", script, "hi").want(t, 0, "It said hi there.")
	if left := w.privateFolders(); !slices.Equal(left, []string{foreign}) {
		t.Errorf("left are %v, want %s alone", left, foreign)
	}
}

// awaitUnclaimed returns when no process has the lock of a folder.
func awaitUnclaimed(t *testing.T, dir string) {
	t.Helper()
	file, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := filelock.Lock(file); err != nil {
		t.Fatal(err)
	}
}

// A toolhost that stops because its agentd was killed still has its folder.
func TestToolhostSharesTheClaim(t *testing.T) {
	w := newWorld(t)
	note := filepath.Join(w.folder, "note")
	t.Setenv(noteEnv, note)
	t.Setenv("TMPDIR", w.folder)
	p, err := startToolhost(t.Context(), slog.New(slog.DiscardHandler), nil, "/j/runs.db")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.stop() }()
	if err := p.folder.claim.Close(); err != nil { // as the kernel does when a signal kills agentd
		t.Fatal(err)
	}
	if err := sweepPrivateFolders(w.folder); err != nil {
		t.Error(err)
	}
	if left := w.privateFolders(); !slices.Equal(left, []string{p.folder.path}) {
		t.Errorf("left are %v, want %s", left, p.folder.path)
	}
	_ = p.stop() // the claim is closed already
	if text, err := os.ReadFile(note); err != nil || !strings.Contains(string(text), "--hide /j/runs.db") {
		t.Errorf("its plugins can see the journal: toolhost was started with %s, %v", text, err)
	}
}

// A private toolhost hides the files with agentd's credentials for a collector from plugins.
func TestAPrivateToolhostHidesTheHeadersOfTelemetry(t *testing.T) {
	w := newWorld(t)
	note, token := filepath.Join(w.folder, "note"), filepath.Join(w.folder, "secret", "token")
	t.Setenv(noteEnv, note)
	t.Setenv("TMPDIR", w.folder)
	config := filepath.Join(w.folder, "agentd.yaml")
	text := "telemetry: {headers: {authorization: {file: secret/token}}}\n"
	if err := errors.Join(os.Mkdir(filepath.Dir(token), 0o700), os.WriteFile(token, []byte("t"), 0o600), os.WriteFile(config, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	w.run("run", "--config", config, "--model", w.script("turns: [{text: hi there}]"), "go").want(t, 0, "hi there")
	if text, err := os.ReadFile(note); err != nil || !strings.Contains(string(text), "--hide "+token+" ") {
		t.Errorf("toolhost was started with %s, %v", text, err)
	}
}

// The id of the lost ledger that the user accepts reaches the toolhost that refused to start.
func TestALostLedgerIsAccepted(t *testing.T) {
	w := newWorld(t)
	note := filepath.Join(w.folder, "note")
	t.Setenv(noteEnv, note)
	t.Setenv("TMPDIR", w.folder)
	script := w.script("turns: [{calls: [{id: a, tool: danger, arguments: {}}]}, {text: done}]")
	config := filepath.Join(w.folder, "agentd.yaml")
	if err := os.WriteFile(config, []byte("approvals: {headless: never}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	left := w.run("run", "--config", config, "--model", script, "go")
	left.want(t, 6, "agentd resume run-")
	_, command, _ := strings.Cut(strings.TrimSpace(left.stderr.String()), "agentd ")
	w.run(append(strings.Fields(command), "--accept-lost-ledger", "0123")...).want(t, 6, "allow it?")
	if text, err := os.ReadFile(note); err != nil || !strings.Contains(string(text), "--accept-lost-ledger 0123") {
		t.Errorf("toolhost was started with %s, %v", text, err)
	}
}

func TestAPrivateToolhostGetsNoKeys(t *testing.T) {
	kept := withoutKeys([]string{"HOME=/h", "OPENAI_API_KEY=secret", "TOOLHOST_TOKEN=secret", "AGENTD_TOKEN=secret", "NOTIFY_SOCKET=secret", "GITHUB_TOKEN=for-a-tool"})
	if got := strings.Join(kept, " "); got != "HOME=/h GITHUB_TOKEN=for-a-tool" {
		t.Errorf("got %s", got)
	}
}

// A run whose toolhost offers no tools says so, with the command that helps.
func TestARunSaysThatItHasNoTools(t *testing.T) {
	w := newWorld(t)
	w.host = hosttest.New(t, nil)
	w.withToolhost()
	w.run("run", "--model", w.script("turns: [{text: hi there}]"), "go").want(t, 0, "hi there", "the toolhost offers no tools", "toolhost plugins --addr")
	with := newWorld(t).withToolhost()
	if r := with.run("run", "--model", with.script("turns: [{text: hi there}]"), "go"); strings.Contains(r.stderr.String(), "no tools") {
		t.Errorf("it has tools, and says\n%s", r.stderr)
	}
}
