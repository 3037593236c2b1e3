package sdk_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"

	workspacev1 "github.com/toolhost/toolhost/gen/go/toolhost/workspace/v1"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/wire/workspaceserver"
	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/sdktest"
	"github.com/toolhost/toolhost/sdk/workspace"
)

// reader is a plugin with a tool that returns the content of a file.
func reader() sdk.Plugin {
	type in struct {
		Path string `json:"path"`
	}
	return sdk.Plugin{Name: "reader", Tools: []sdk.Tool{
		sdk.Func(sdk.Spec{Name: "read", Description: "Reads."}, func(ctx context.Context, in in) (string, error) {
			w, err := sdk.OpenWorkspace(ctx)
			if err != nil {
				return "", err
			}
			defer w.Close()
			file, err := w.Open(ctx, in.Path)
			if err != nil {
				return "", err
			}
			defer file.Close()
			content, err := io.ReadAll(file)
			return string(content), err
		}),
	}}
}

func TestOpenWorkspaceOpensTheFolderOfTheCall(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("on disk"), 0o666); err != nil {
		t.Fatal(err)
	}
	h := sdktest.New(t, reader())
	if got := h.Call("read", `{"path":"a.txt"}`, sdktest.WithWorkspace(dir)); got.Err != nil || got.Text() != "on disk" {
		t.Errorf("got %q, %v", got.Text(), got.Err)
	}
	if got := h.Call("read", `{"path":"../a.txt"}`, sdktest.WithWorkspace(dir)); !got.IsError || !strings.Contains(got.Text(), "leads out") {
		t.Errorf("got %q, %v", got.Text(), got.Err)
	}
}

func TestOpenWorkspaceOfATestIsInMemory(t *testing.T) {
	h := sdktest.New(t, reader())
	w := workspace.NewMemory(map[string]workspace.MemoryFile{"a.txt": {Content: "in memory"}})
	ctx := workspace.NewContext(t.Context(), w)
	for range 2 { // the tool closes its workspace, not the test's
		if got := h.Call("read", `{"path":"a.txt"}`, sdktest.WithContext(ctx)); got.Err != nil || got.Text() != "in memory" {
			t.Errorf("got %q, %v", got.Text(), got.Err)
		}
	}
}

func TestCallsWithoutWorkspaceSaySo(t *testing.T) {
	h := sdktest.New(t, reader())
	for dir, words := range map[string]string{"": "--workspace", filepath.Join(t.TempDir(), "missing"): "opening the workspace"} {
		got := h.Call("read", `{"path":"a.txt"}`, sdktest.WithWorkspace(dir))
		if e, ok := errors.AsType[*sdk.Error](got.Err); !ok || e.Kind != "unavailable" || !strings.Contains(e.Message, words) {
			t.Errorf("workspace %q: got %v, want kind unavailable and %q", dir, got.Err, words)
		}
	}
}

// toolhost serves a workspace that is no folder at a socket, and the tool does not notice.
func TestOpenWorkspaceOpensTheOneAtTheSocket(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "sdk-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket := filepath.Join(dir, "s")
	t.Setenv("TOOLHOST_WORKSPACE", socket)
	t.Cleanup(func() {
		if err := sdk.CloseServedWorkspace(); err != nil {
			t.Error(err)
		}
	})
	h := sdktest.New(t, reader())
	if got := h.Call("read", `{"path":"a.txt"}`); got.Err == nil || got.Err.Kind != "unavailable" {
		t.Errorf("without a server: got %q, %v", got.Text(), got.Err)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	files := workspace.NewMemory(map[string]workspace.MemoryFile{"a.txt": {Content: "served"}})
	server := grpc.NewServer(workspaceserver.Options()...)
	workspacev1.RegisterWorkspaceServiceServer(server, workspaceserver.New(workspaceserver.Config{
		Open: func(context.Context, string) (workspace.Workspace, func(), error) { return files, func() {}, nil },
	}))
	done := make(chan struct{})
	go func() { // ends with Stop
		defer close(done)
		_ = server.Serve(listener)
	}()
	eventually.Holds(t, "the tool finds the server", func() bool {
		got := h.Call("read", `{"path":"a.txt"}`)
		return got.Err == nil && got.Text() == "served"
	})
	if got := h.Call("read", `{"path":"../a.txt"}`); !got.IsError || !strings.Contains(got.Text(), "leads out") {
		t.Errorf("got %q, %v", got.Text(), got.Err)
	}
	server.Stop()
	<-done
	if got := h.Call("read", `{"path":"a.txt"}`); got.Err == nil || got.Err.Kind != "unavailable" {
		t.Errorf("after the server: got %q, %v", got.Text(), got.Err)
	}
}
