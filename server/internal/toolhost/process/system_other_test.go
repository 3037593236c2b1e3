//go:build unix && !linux

package process_test

import (
	"os/exec"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/sdk"
)

// stopped reports whether SIGSTOP has stopped the process.
func stopped(pid int) bool {
	state, err := exec.Command("ps", "-o", "state=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && strings.HasPrefix(string(state), "T")
}

// namespaces returns false.
func namespaces() bool { return false }

// playSDKPlugin serves a plugin.
func playSDKPlugin() { sdk.Serve(sdk.Plugin{Name: "sdk", Version: "1"}) }
