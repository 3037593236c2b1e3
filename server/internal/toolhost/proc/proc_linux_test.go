package proc

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	const rest = " S 7 40 40 0 -1 4194304 1 0 0 0 1 2 3 4 20 0 1 0 98765 1 1"
	tests := []struct {
		name, text string
		want       stat
		bad        bool
	}{
		{name: "plain", text: "42 (calc)" + rest, want: stat{'S', 7, 40, 98765, 1 + 2 + 3 + 4}},
		{name: "spaces and parentheses in the name", text: "42 (a) S 1 (b c)" + rest, want: stat{'S', 7, 40, 98765, 1 + 2 + 3 + 4}},
		{name: "empty", text: "", bad: true},
		{name: "cut off", text: "42 (calc) S 7 40", bad: true},
		{name: "no number", text: "42 (calc)" + strings.Replace(rest, "98765", "soon", 1), bad: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := parseStat([]byte(test.text))
			if (err != nil) != test.bad || got != test.want {
				t.Errorf("parseStat = %+v, %v; want %+v, error %v", got, err, test.want, test.bad)
			}
		})
	}
}

// sleeper starts a process that leads its own group and is reaped at the end of the test.
func sleeper(t *testing.T, mark string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/bin/sleep", "600")
	cmd.Env = []string{"A=1", MarkName + "=" + mark, "B=2"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

func TestKillMarkedHitsOnlyTheMarked(t *testing.T) {
	mine, other := sleeper(t, "token-a/1"), sleeper(t, "token-b/1")
	found, err := KillMarked("token-a/", time.Minute)
	if err != nil || found != 1 {
		t.Fatalf("KillMarked = %d, %v; want 1", found, err)
	}
	if Alive(mine.Process.Pid) {
		t.Error("the marked process is alive")
	}
	if !Alive(other.Process.Pid) {
		t.Error("a process with another mark is dead")
	}
}

func TestKillGroupSparesAReusedPID(t *testing.T) {
	cmd := sleeper(t, "x/1")
	id := Identify(cmd.Process.Pid)
	if id.Start == 0 {
		t.Fatal("the start time is not known")
	}
	if err := KillGroup(ID{PID: id.PID, Start: id.Start + 1}); err != nil {
		t.Fatal(err)
	}
	if !Alive(id.PID) {
		t.Fatal("a process that started at another time was killed")
	}
	if err := KillGroup(id); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the group was not killed")
	}
	if err := KillGroup(id); err != nil {
		t.Errorf("killing a group that is gone: %v", err)
	}
}

// The test uses signal 0, which has no effect. With another signal, a missing check would kill all
// processes of the machine.
func TestSignalGroupRefusesEverybody(t *testing.T) {
	for _, group := range []int{1, 0, -1} {
		if err := SignalGroup(group, 0); err == nil {
			t.Errorf("group %d was accepted", group)
		}
	}
	if _, err := KillMarked("", 0); err == nil {
		t.Error("killing whatever any toolhost started was accepted")
	}
}

func TestBelongs(t *testing.T) {
	cmd := sleeper(t, "x/1")
	for _, test := range []struct {
		name        string
		pid, leader int
		want        bool
	}{
		{"itself", cmd.Process.Pid, cmd.Process.Pid, true},
		{"a child in a session of its own", cmd.Process.Pid, os.Getpid(), true},
		{"the parent", os.Getpid(), cmd.Process.Pid, false},
	} {
		if got, err := Belongs(test.pid, test.leader); err != nil || got != test.want {
			t.Errorf("%s: Belongs = %v, %v; want %v", test.name, got, err, test.want)
		}
	}
}

func TestResidentBytes(t *testing.T) {
	if got, err := ResidentBytes(os.Getpid()); err != nil || got < 1<<20 {
		t.Errorf("ResidentBytes = %d, %v; want at least 1 MiB", got, err)
	}
}

// A process that executes a program has no environment for a moment. Its mark is found all the
// same.
func TestMarkIsFoundWhileAProgramIsExecuted(t *testing.T) {
	const mark = "TestMarkIsFoundWhileAProgramIsExecuted"
	stop := make(chan struct{})
	missed := make(chan int, 1)
	cmd := exec.Command("/bin/sh", "-c", `n=0; while [ $n -lt 300 ]; do n=$((n+1)); exec_again=1 /bin/true; done; exec /bin/sleep 600`)
	cmd.Env = []string{MarkName + "=" + mark}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { // ends with stop
		n := 0
		for {
			select {
			case <-stop:
				missed <- n
				return
			default:
				if !hasMark(cmd.Process.Pid, mark) {
					n++
				}
			}
		}
	}()
	for { // until the shell has become sleep
		name, err := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/comm")
		if err != nil {
			t.Fatal(err)
		}
		if strings.TrimSpace(string(name)) == "sleep" {
			break
		}
	}
	close(stop)
	if n := <-missed; n > 0 {
		t.Errorf("the mark was missed %d times", n)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}
