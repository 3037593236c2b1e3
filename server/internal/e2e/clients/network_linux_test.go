//go:build clients

package clients

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// aloneVariable says that the test program has a network namespace of its own.
const aloneVariable = "TOOLHOST_CLIENTS_ALONE"

// TestMain runs the tests in a network namespace with loopback only, so that no client reaches
// anything but the test. The test program is also the plugin of the tests.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == pluginName {
		servePlugin()
		return
	}
	flag.Parse()
	if os.Getenv(aloneVariable) == "" && os.Getuid() == 0 {
		os.Exit(runAlone())
	}
	if os.Getenv(aloneVariable) != "" {
		if err := startLoopback(); err != nil {
			fmt.Fprintln(os.Stderr, "starting the loopback interface:", err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// runAlone runs the test program again in a new network namespace, and returns its exit code. The
// program builds toolhost before, which may need the network.
func runAlone() int {
	if err := build(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(bin)
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), aloneVariable+"="+bin)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET, Pdeathsig: unix.SIGKILL}
	err := cmd.Run()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return failed.ExitCode()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "making a network namespace:", err)
		return 1
	}
	return 0
}

// startLoopback starts the loopback interface, which is down in a new namespace.
func startLoopback() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, lo)
}
