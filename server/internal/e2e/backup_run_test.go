package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/store/filelock"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
)

// decide answers the only decision that the run waits for.
func (s *served) decide(t *testing.T, id string, kind agentdv1.DecisionKind, d *agentdv1.Decision) {
	t.Helper()
	var pending []*agentdv1.PendingDecision
	eventually.Holds(t, "the run waits for a decision", func() bool {
		run, err := s.GetRun(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		pending = run.GetPendingDecisions()
		return len(pending) == 1 && pending[0].GetKind() == kind
	})
	d.DecisionId = pending[0].GetDecisionId()
	if _, err := s.Respond(t.Context(), id, "ada", d); err != nil {
		t.Fatal(err)
	}
}

func answer(text string) *agentdv1.Decision {
	return &agentdv1.Decision{Verdict: &agentdv1.Decision_Answer{Answer: &agentdv1.Answer{Text: text}}}
}

// restoredText says that the model got the attachment, which the archive has with the journal.
const restoredText = "done with note.txt text/plain, 17 bytes, sha256 0057061a4f16934b96f73f579167f795c4d4c20d8c501fc495197c550af51110"

// A run goes on after a backup and ends. Its journal is restored, and the run goes on from the
// place of the backup a second time. What it had written after the backup is not written again:
// its toolhost answers from the ledger, or a person is asked.
func TestARestoredJournal(t *testing.T) {
	t.Parallel()
	const turn = `
attachments: [text/*]
turns:
  - calls: [{id: a, tool: versionplugin_write, arguments: {file: written, text: first}}]
  - calls: [{id: b, tool: ask_user, arguments: {question: 'Go on?'}}]
  - calls: [{id: c, tool: versionplugin_write, arguments: {file: written, text: TEXT}}]
  - text: 'done with {{attachments}}'
`
	for name, test := range map[string]struct {
		text  string // of the call after the backup, when the run makes it the second time
		lose  func(t *testing.T, h *toolhost, backup string)
		asked bool
	}{
		"its toolhost is still there":                {"second", func(*testing.T, *toolhost, string) {}, false},
		"the model wants another call":               {"third", func(*testing.T, *toolhost, string) {}, true},
		"its toolhost is restored too":               {"second", func(t *testing.T, h *toolhost, b string) { h.done(t, "restore", b, "--replace") }, true},
		"its toolhost is lost, and another one runs": {"second", func(t *testing.T, h *toolhost, _ string) { h.state += "-new" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := prepare(t)
			installStamped(t, h, "1", "", "")
			h.serve(t)
			script := filepath.Join(h.home, "script.yaml")
			write(t, script, strings.ReplaceAll(turn, "TEXT", "second"), 0o600)
			config := filepath.Join(h.home, "ask.yaml")
			write(t, config, "approvals: {unknown_outcome: ask}\n", 0o600)
			s := h.agentdServe(t, "--model", "scripted:"+script, "--config", config)
			id, err := s.StartRun(t.Context(), &agentdv1.StartRunRequest{Prompt: "write", Attachments: []*agentdv1.Attachment{
				{Name: "note.txt", Content: &agentdv1.Attachment_Data{Data: []byte("remember the milk")}},
			}})
			if err != nil {
				t.Fatal(err)
			}
			question := agentdv1.DecisionKind_DECISION_KIND_QUESTION
			eventually.Holds(t, "the run asks", func() bool {
				run, err := s.GetRun(t.Context(), id)
				return err == nil && len(run.GetPendingDecisions()) == 1
			})
			journal := filepath.Join(h.home, "runs.db")
			archive, state := filepath.Join(h.home, "agentd.tar.gz"), filepath.Join(h.home, "toolhost.tar.gz")
			agentd := func(args ...string) result {
				t.Helper()
				return run(t, command(t.Context(), h.home, nil, "agentd", append(args, "--journal", journal)...))
			}
			agentd("backup", archive).exits(t, 0)
			h.done(t, "backup", state)
			s.decide(t, id, question, answer("yes"))
			s.story(t, id, 0, func(e *agentdv1.RunEvent) bool { return e.GetRunFinished() != nil })

			agentd("restore", archive, "--replace").says(t, "in use; stop agentd first")
			s.kill()
			agentd("restore", archive).says(t, "--replace")
			restored := agentd("restore", archive, "--replace")
			restored.exits(t, 0)
			restored.says(t, "1 run had not finished")
			h.stop(t)
			test.lose(t, h, state)
			h.serve(t)
			write(t, script, strings.ReplaceAll(turn, "TEXT", test.text), 0o600)
			s.live(t)
			s.decide(t, id, question, answer("yes"))
			if test.asked {
				s.decide(t, id, agentdv1.DecisionKind_DECISION_KIND_OUTCOME, &agentdv1.Decision{Verdict: &agentdv1.Decision_Reject{Reject: &agentdv1.Reject{}}})
			}
			events := s.story(t, id, 0, func(e *agentdv1.RunEvent) bool { return e.GetRunFinished() != nil })
			if text := events[len(events)-1].GetRunFinished().GetText(); text != restoredText {
				t.Errorf("the run ends with %q", text)
			}
			if lines := h.linesWritten(t); lines["first"] != 1 || lines["second"] != 1 || len(lines) != 2 {
				t.Errorf("written: %v", lines)
			}
			agentd("show", id).says(t, "restored from the backup of")
		})
	}
}

// A run with a private toolhost has its ledger beside the journal, and an archive does not have it.
// A restored run does not execute a call again that it had made after the backup, although the
// ledger went when the run ended.
func TestARestoredRunWithAPrivateToolhost(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	script, note := filepath.Join(h.home, "script.yaml"), filepath.Join(h.workspace, "note.txt")
	write(t, note, "one two", 0o600)
	const turns = `
turns:
  - calls: [{id: a, tool: edit_file, arguments: {path: note.txt, edits: [{old_text: one, new_text: first}]}}]
  - {delay: DELAY, calls: [{id: b, tool: edit_file, arguments: {path: note.txt, edits: [{old_text: two, new_text: two more}]}}]}
  - text: 'done'
`
	agentd := func(args ...string) *exec.Cmd {
		cmd := command(t.Context(), h.home, []string{"XDG_DATA_HOME=" + filepath.Join(h.home, "data"), "XDG_RUNTIME_DIR=" + h.home}, "agentd", args...)
		cmd.Dir = h.workspace
		return cmd
	}
	if err := os.MkdirAll(filepath.Join(h.home, "data", "toolhost"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(h.plugins, filepath.Join(h.home, "data", "toolhost", "plugins")); err != nil {
		t.Fatal(err)
	}
	write(t, script, strings.Replace(turns, "DELAY", "10m", 1), 0o600)
	begun := agentd("run", "--model", "scripted:"+script, "edit")
	said := &syncbuf.Buffer{}
	begun.Stdout, begun.Stderr = said, said
	if err := begun.Start(); err != nil {
		t.Fatal(err)
	}
	journal := filepath.Join(h.home, ".local", "state", "toolhost", "runs.db")
	eventually.Shows(t, "the first call has ended", func() (bool, any) {
		return strings.Contains(said.String(), "changed"), said.String()
	})
	runs, err := os.ReadDir(journal + ".calls")
	if err != nil || len(runs) != 1 {
		t.Fatalf("beside the journal are the calls of %v, %v", runs, err)
	}
	id := runs[0].Name()
	if err := begun.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = begun.Wait()
	archive := filepath.Join(h.home, "agentd.tar.gz")
	run(t, agentd("backup", archive)).exits(t, 0)
	write(t, script, strings.Replace(turns, "DELAY", "0s", 1), 0o600)
	run(t, agentd("resume", id, "--model", "scripted:"+script)).exits(t, 0)
	restored := run(t, agentd("restore", archive, "--replace"))
	restored.exits(t, 0)
	restored.says(t, "1 run had not finished")
	again := run(t, agentd("resume", id, "--model", "scripted:"+script))
	again.exits(t, 0)
	again.says(t, "outcome_unknown")
	if text, err := os.ReadFile(note); err != nil || string(text) != "first two more" {
		t.Errorf("the file has %q, %v", text, err)
	}
}

// A backup of a journal that is damaged, or of toolhost, changes nothing.
func TestDamagedBackupOfAJournalChangesNothing(t *testing.T) {
	t.Parallel()
	h := start(t)
	script := filepath.Join(h.home, "script.yaml")
	write(t, script, "turns: [{text: 'done'}]\n", 0o600)
	journal, archive := filepath.Join(h.home, "journal", "runs.db"), filepath.Join(h.home, "agentd.tar.gz")
	agentd := func(args ...string) result {
		t.Helper()
		return run(t, command(t.Context(), h.home, nil, "agentd", append(args, "--journal", journal)...))
	}
	agentd("run", "say done", "--model", "scripted:"+script, "--toolhost", h.addr).exits(t, 0)
	agentd("backup", archive).exits(t, 0)
	whole, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	before := tree(t, filepath.Dir(journal))
	damaged := filepath.Join(h.home, "damaged.tar.gz")
	for name, data := range map[string]string{"truncated": string(whole[:len(whole)/2]), "of toolhost": ""} {
		write(t, damaged, data, 0o600)
		if data == "" {
			if err := os.Remove(damaged); err != nil {
				t.Fatal(err)
			}
			h.done(t, "backup", damaged)
		}
		agentd("restore", damaged, "--check").exits(t, 3)
		r := agentd("restore", damaged, "--replace")
		r.exits(t, 3)
		r.says(t, "cannot be used")
		if after := tree(t, filepath.Dir(journal)); after != before {
			t.Errorf("%s: the folder of the journal has changed:\n%s\nwant\n%s", name, after, before)
		}
	}
	agentd("restore", archive, "--replace").exits(t, 0)
	agentd("runs").says(t, "say done")
}

// A restore has the journal alone until it has ended, and every other process that uses the journal
// keeps a restore away.
func TestARestoreHasTheJournalAlone(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	journal, archive := filepath.Join(h.home, "runs.db"), filepath.Join(h.home, "agentd.tar.gz")
	agentd := func(args ...string) result {
		t.Helper()
		return run(t, command(t.Context(), h.home, nil, "agentd", append(args, "--journal", journal)...))
	}
	write(t, journal, "", 0o600)
	agentd("runs").exits(t, 0)
	agentd("backup", archive).exits(t, 0)
	write(t, journal+".restore", `{"place":[],"staging":""}`, 0o600) // an interrupted restore
	lock, err := os.OpenFile(journal+".use", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	locked := func(lockAs func(*os.File) error, refused map[string]string) {
		t.Helper()
		if err := lockAs(lock); err != nil {
			t.Fatal(err)
		}
		for args, want := range refused {
			r := agentd(strings.Fields(args)...)
			r.exits(t, 3)
			r.says(t, want)
		}
	}
	const inUse = "in use; stop agentd first"
	restore, busy := "restore --replace "+archive, "`agentd restore` works on the journal"
	locked(filelock.TryShared, map[string]string{"restore --resume": inUse, restore: inUse})
	locked(filelock.Lock, map[string]string{"restore --resume": inUse, restore: inUse, "runs": busy, "backup " + archive + "2": busy})
	locked(filelock.Unlock, map[string]string{restore: "was interrupted", "runs": "was interrupted"})
	agentd("restore", "--resume").exits(t, 0)
	agentd("restore", "--replace", archive).exits(t, 0)
	agentd("runs").exits(t, 0)
}
