package sdk_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
)

// doomedHost is a host that launches the weather plugin, continues to the step in its argument,
// reports that, and waits to be killed.
func doomedHost() {
	cmd := exec.Command("weather")
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	var line string
	if err == nil {
		line, err = bufio.NewReader(stdout).ReadString('\n')
	}
	if err == nil && os.Args[1] == "connected" {
		err = connect(strings.Split(line, "|")[3])
	}
	fmt.Println(err)
	<-time.After(patience) // ends the process if the test does not kill it
}

// connect connects to a plugin without opening the stream.
func connect(socket string) error {
	cc, err := grpc.NewClient("unix:"+socket, append(pluginwire.DialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		return err
	}
	_, err = pluginwire.NewConn(cc, pluginwire.ConnConfig{}).Describe(context.Background(), pluginwire.DescribeRequest{})
	return err
}

// If a host is killed between the handshake and the stream of calls, its plugin ends, whether the
// host had connected or not.
func TestProcessEndsWhenItsHostDiesBeforeTheStream(t *testing.T) {
	for _, stage := range []string{"launched", "connected"} {
		t.Run(stage, func(t *testing.T) {
			weather, dir := command(t)
			path, err := exec.LookPath("doomed")
			if err != nil {
				t.Fatal(err)
			}
			host := exec.Command(path, stage)
			host.Env = weather.Env
			stdout, err := host.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			stderr, heldByBoth, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer stderr.Close()
			host.Stderr = heldByBoth
			if err := host.Start(); err != nil {
				t.Fatal(err)
			}
			heldByBoth.Close()
			line, err := bufio.NewReader(stdout).ReadString('\n')
			if err != nil || line != "<nil>\n" {
				t.Errorf("the host says %q, %v", line, err)
			}
			if err := host.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = host.Wait() // killed
			if err := stderr.SetReadDeadline(time.Now().Add(patience)); err != nil {
				t.Fatal(err)
			}
			// ends with the last process that has the pipe
			if _, err := io.ReadAll(stderr); err != nil {
				t.Errorf("the plugin goes on without its host: %v", err)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left in the socket's folder: %v, %v", left, err)
			}
		})
	}
}
