package address_test

import (
	"net"
	"os"
	"os/exec"
	"testing"
	"time"
)

// The test binary is also the server that dies, and the process that has its socket.
const (
	roleVariable = "ADDRESS_TEST_ROLE"
	roleDying    = "dying"  // listens at the path in the first argument, starts the holder and exits
	roleHolder   = "holder" // has the socket as descriptor 3, and exits after the first connection
)

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(roleVariable) {
	case roleDying:
		err = dieWhileListening(os.Args[1])
	case roleHolder:
		err = hold()
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		panic(err)
	}
}

func dieWhileListening(path string) error {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return err
	}
	l.SetUnlinkOnClose(false)
	file, err := l.File()
	if err != nil {
		return err
	}
	holder := exec.Command(os.Args[0])
	holder.Env, holder.ExtraFiles = append(os.Environ(), roleVariable+"="+roleHolder), []*os.File{file}
	return holder.Start()
}

func hold() error {
	l, err := net.FileListener(os.NewFile(3, "socket"))
	if err != nil {
		return err
	}
	// The holder ends also if the test ends early.
	if err := l.(*net.UnixListener).SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return err
	}
	_, _ = l.Accept()
	return nil
}

// A server is killed while it starts a program: the copy of it that becomes the program has its
// socket for a moment. The next server waits for the end of the copy, and takes the address.
func TestListenWaitsForWhatAKilledServerLeft(t *testing.T) {
	a := socket(t)
	if err := listen(t, a).Close(); err != nil { // makes the folder
		t.Fatal(err)
	}
	dying := exec.Command(os.Args[0], a.Path())
	dying.Env = append(os.Environ(), roleVariable+"="+roleDying)
	if err := dying.Run(); err != nil {
		t.Fatal(err)
	}
	l := listen(t, a) // its first connection ends the holder
	conn, err := a.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := l.Accept(); err != nil {
		t.Fatal(err)
	}
}
