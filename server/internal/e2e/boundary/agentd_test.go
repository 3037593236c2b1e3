package boundary_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
)

// agentd is the agentd that works on one run. A test can kill the process and start it again on the
// same journal, so the field life changes during the test.
type agentd struct {
	world   *world
	brain   *brain
	folder  string
	journal string // the file, or the URL of a database
	addr    string
	log     *syncbuf.Buffer
	life    *process
	signals *os.File // the read end: the process writes a line at each append
	consent *os.File // the write end: one byte lets a halted process continue
}

// newAgentd starts an agentd that halts at the append that at names, and kills it at the end of the
// test. If at is the zero place, newAgentd starts the shipped binary, which never halts.
func newAgentd(t *testing.T, w *world, b *brain, folder string, at place) *agentd {
	t.Helper()
	d := &agentd{world: w, brain: b, folder: folder, addr: "unix://" + filepath.Join(folder, "a.sock"), log: &syncbuf.Buffer{}}
	d.journal = filepath.Join(folder, "runs.db")
	if w.database != nil {
		d.journal = w.database(t)
	}
	told, tell, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	wait, consent, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	d.signals, d.consent = told, consent
	if at == (place{}) {
		err = d.revive()
	} else {
		d.life, err = d.launch("halting/agentd", []string{fmt.Sprintf("BOUNDARY_HALT=%d %s", at.seq, at.side)}, tell, wait)
	}
	if err := errors.Join(err, tell.Close(), wait.Close()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.life.kill()
		if err := errors.Join(told.Close(), consent.Close()); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("agentd's log:\n%s", d.log)
		}
	})
	return d
}

func (d *agentd) launch(binary string, env []string, files ...*os.File) (*process, error) {
	args := []string{"serve", "--listen", d.addr, "--toolhost", d.world.addr, "--journal", d.journal}
	if d.brain.config == "" {
		args = append(args, "--model", "openai:scripted", "--base-url", d.brain.server.URL+"/v1")
	} else {
		file := filepath.Join(d.folder, "agentd.yaml")
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(d.brain.config, "$URL", d.brain.server.URL+"/v1")), 0o600); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(d.folder, schemaFile), []byte(answerSchema), 0o600); err != nil {
			return nil, err
		}
		args = append(args, "--config", file)
	}
	return launch(d.folder, d.log, env, files, binary, args...)
}

// revive starts the shipped agentd binary on the same journal and address.
func (d *agentd) revive() (err error) {
	d.life, err = d.launch("agentd", nil)
	return err
}

// victims names the processes that a test kills.
type victims struct{ agentd, toolhost bool }

func (v victims) String() string {
	switch {
	case v.agentd && v.toolhost:
		return "both"
	case v.toolhost:
		return "toolhost"
	}
	return "agentd"
}

// world returns a new world of start if the test kills toolhost. Tests that do not kill toolhost
// share one world.
func (v victims) world(t *testing.T, shared *world, start func(*testing.T) *world) *world {
	t.Helper()
	if v.toolhost {
		return start(t)
	}
	return shared
}

// disaster waits until agentd halts and then kills the victims. If agentd is not a victim, it
// continues before toolhost is back. The channel receives the result when all processes are back.
// Until then no other goroutine may use the processes.
func (d *agentd) disaster(v victims) <-chan error {
	ended := make(chan error, 1)
	// The goroutine ends when strike returns. strike also returns if agentd exits. The receiver of
	// the channel waits for the goroutine.
	go func() { ended <- d.strike(v) }()
	return ended
}

func (d *agentd) strike(v victims) error {
	line, err := bufio.NewReader(d.signals).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "halted") {
		return fmt.Errorf("agentd did not halt: it told %q, %w", line, err)
	}
	if v.toolhost {
		d.world.toolhost.kill()
	}
	if v.agentd {
		d.life.kill()
	} else if _, err := d.consent.Write([]byte{1}); err != nil {
		return err
	}
	if v.toolhost {
		err = d.world.open()
	}
	if err == nil && v.agentd {
		err = d.revive()
	}
	return err
}
