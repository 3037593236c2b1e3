package sdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/sdktest"
)

type handleIn struct {
	Artifact string `json:"artifact"`
}

// This tool counts the lines of another tool's result.
func ExampleOpenArtifact() {
	count := func(ctx context.Context, in handleIn) (int, error) {
		a, err := sdk.OpenArtifact(ctx, in.Artifact)
		if err != nil {
			return 0, err
		}
		text, err := io.ReadAll(a)
		return strings.Count(string(text), "\n"), err
	}
	sdk.Serve(sdk.Plugin{Name: "lines", Tools: []sdk.Tool{
		sdk.Func(sdk.Spec{Name: "count_lines", Description: "Counts the lines of an artifact.", ReadOnly: true}, count),
	}})
}

// opening returns a plugin whose tool opens the artifact in its arguments and passes it to use.
func opening(use func(a *sdk.Artifact) error) sdk.Plugin {
	return sdk.Plugin{Name: "p", Tools: []sdk.Tool{
		sdk.Func(sdk.Spec{Name: "open", Description: "x"}, func(ctx context.Context, in handleIn) (string, error) {
			a, err := sdk.OpenArtifact(ctx, in.Artifact)
			if err == nil {
				err = use(a)
			}
			return "read", err
		}),
	}}
}

// everywhere runs a test with both transports.
func everywhere(t *testing.T, p sdk.Plugin, test func(t *testing.T, h *sdktest.Host)) {
	t.Run("in memory", func(t *testing.T) { test(t, sdktest.New(t, p)) })
	t.Run("over the wire", func(t *testing.T) { test(t, sdktest.NewOverWire(t, p)) })
}

func TestArtifactIsReadWhole(t *testing.T) {
	for _, size := range []int{0, 1, 64 << 10, 64<<10 + 1, 300_001} {
		text := strings.Repeat("0123456789", size/10+1)[:size]
		p := opening(func(a *sdk.Artifact) error {
			if a.Size() != int64(size) || a.MediaType() != "application/x" || a.Name() != "f.bin" {
				t.Errorf("opened %d bytes of %s, %q", a.Size(), a.MediaType(), a.Name())
			}
			if err := iotest.TestReader(io.NewSectionReader(a, 0, a.Size()), []byte(text)); err != nil {
				t.Error(err)
			}
			got, err := io.ReadAll(iotest.OneByteReader(a))
			if string(got) != text {
				t.Errorf("read %d bytes of %d", len(got), size)
			}
			return err
		})
		everywhere(t, p, func(t *testing.T, h *sdktest.Host) {
			got := h.Call("open", `{"artifact":"a"}`, sdktest.WithArtifact("a", sdk.File("f.bin", "application/x", []byte(text))))
			if got.Err != nil || got.Text() != "read" {
				t.Errorf("%q, %v", got.Text(), got.Err)
			}
		})
	}
}

func TestArtifactReadAt(t *testing.T) {
	text := strings.Repeat("0123456789", 20_000)
	p := opening(func(a *sdk.Artifact) error {
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				p, from := make([]byte, 100_000), int64(i)*10_000
				if n, err := a.ReadAt(p, from); n != len(p) || err != nil || string(p) != text[from:from+int64(n)] {
					t.Errorf("at %d: %d bytes, %v", from, n, err)
				}
			})
		}
		wg.Wait()
		if n, err := a.ReadAt(make([]byte, 10), a.Size()-3); n != 3 || !errors.Is(err, io.EOF) {
			t.Errorf("at the end: %d bytes, %v", n, err)
		}
		if _, err := a.ReadAt(make([]byte, 1), -1); err == nil {
			t.Error("before the beginning there is something")
		}
		return nil
	})
	everywhere(t, p, func(t *testing.T, h *sdktest.Host) {
		h.Call("open", `{"artifact":"a"}`, sdktest.WithArtifact("a", sdk.Text(text)))
	})
}

// An unknown handle is a tool error for the model, not an infrastructure error.
func TestNoSuchArtifact(t *testing.T) {
	everywhere(t, opening(nil), func(t *testing.T, h *sdktest.Host) {
		got := h.Call("open", `{"artifact":"artifact-none"}`, sdktest.WithArtifact("a", sdk.JSON(json.RawMessage("1"))))
		if got.Err != nil || !got.IsError || !strings.Contains(got.Text(), `there is no artifact "artifact-none" in this session`) {
			t.Errorf("%+v", got)
		}
	})
	if _, err := sdk.OpenArtifact(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "not that of a call") {
		t.Errorf("outside of a call: %v", err)
	}
}
