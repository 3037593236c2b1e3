//go:build linux && (amd64 || arm64)

package entry_test

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox/entry"
)

// A process is started with descriptors that package syscall places right above those that it is
// given. The program must not be overwritten if it is there, which happens when many processes are
// started at the same time.
func TestProgramIsExecutedWhateverItsDescriptor(t *testing.T) {
	var low, fillers []*os.File
	open := func() *os.File {
		f, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	for range 20 { // so that there is room later
		low = append(low, open())
	}
	var p entry.Program
	p.Call(unix.SYS_CLOSE_RANGE, entry.StatusFD+1, 1<<32-1, 0)
	p.Call(unix.SYS_FCNTL, entry.StatusFD, unix.F_SETFD, unix.FD_CLOEXEC)
	for range 8 { // the program is right above one of them, or above a file that making it opens later
		fillers = append(fillers, open())
	}
	loaded, err := p.Load("/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	for range 8 {
		fillers = append(fillers, open())
	}
	for _, f := range low {
		f.Close()
	}
	for _, highest := range fillers {
		entered, err := loaded.Enter([]string{"true"}, &os.ProcAttr{Files: []*os.File{highest, highest, highest}})
		if err != nil {
			t.Fatal(err)
		}
		process, err := entered.Execute(t.Context())
		if err != nil {
			t.Errorf("with %d as the highest descriptor: %v", highest.Fd(), err)
			continue
		}
		if state, err := process.Wait(); err != nil || !state.Success() {
			t.Errorf("with %d as the highest descriptor it ended with %v, %v", highest.Fd(), state, err)
		}
	}
}
