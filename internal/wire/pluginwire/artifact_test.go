package pluginwire_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

// kept returns an ArtifactReader that has one artifact.
func kept(handle, text string) pluginwire.ArtifactReader {
	return func(_ context.Context, h string, offset uint64, limit int) (tool.ArtifactPiece, error) {
		if h != handle {
			return tool.ArtifactPiece{}, tool.Errorf(tool.KindNotFound, "there is no artifact %q", h)
		}
		from := min(offset, uint64(len(text)))
		to := min(from+uint64(limit), uint64(len(text)))
		return tool.ArtifactPiece{Data: []byte(text[from:to]), MediaType: "text/plain", Name: "n", Size: uint64(len(text))}, nil
	}
}

// reading is a plugin whose tool calls f.
func reading(f func(ctx context.Context, call *pluginwire.ServerCall) (string, error)) plugin {
	return plugin{call: func(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
		if _, err := whole(ctx, call); err != nil {
			return tool.Result{}, err
		}
		text, err := f(ctx, call)
		return tool.TextResult(text), err
	}}
}

func TestReadArtifact(t *testing.T) {
	text := strings.Repeat("0123456789", 20_000)
	for name, test := range map[string]struct {
		offset uint64
		limit  int
		want   string
	}{
		"a piece":        {3, 5, text[3:8]},
		"all there is":   {199_990, 100, text[199_990:]},
		"the end":        {200_000, 100, ""},
		"behind the end": {1 << 60, 100, ""},
		"no limit":       {0, 0, text[:64<<10]},
		"a large limit":  {0, 1 << 30, text[:64<<10]},
	} {
		t.Run(name, func(t *testing.T) {
			conn := open(t, reading(func(ctx context.Context, call *pluginwire.ServerCall) (string, error) {
				piece, err := call.ReadArtifact(ctx, "h", test.offset, test.limit)
				if err == nil && (piece.Size != 200_000 || piece.MediaType != "text/plain" || piece.Name != "n") {
					err = errors.New("another artifact")
				}
				return string(piece.Data), err
			}), pluginwire.ConnConfig{})
			wantText(t, outcome(t, start(t, conn, pluginwire.Start{Complete: true, Artifacts: kept("h", text)})), test.want)
		})
	}
}

func TestReadArtifactFails(t *testing.T) {
	for name, test := range map[string]struct {
		artifacts pluginwire.ArtifactReader
		want      tool.Kind
	}{
		"no such artifact": {kept("other", "x"), tool.KindNotFound},
		"no artifacts":     {nil, tool.KindNotFound},
		"no *tool.Error": {func(context.Context, string, uint64, int) (tool.ArtifactPiece, error) {
			return tool.ArtifactPiece{}, errors.New("the disk is broken")
		}, tool.KindInternal},
		"a long story": {func(context.Context, string, uint64, int) (tool.ArtifactPiece, error) {
			return tool.ArtifactPiece{}, tool.Errorf(tool.KindUnavailable, "%s", strings.Repeat("x", 10<<20))
		}, tool.KindUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			conn := open(t, reading(func(ctx context.Context, call *pluginwire.ServerCall) (string, error) {
				_, err := call.ReadArtifact(ctx, "h", 0, 1)
				return "read", err
			}), pluginwire.ConnConfig{})
			wantKind(t, outcome(t, start(t, conn, pluginwire.Start{Complete: true, Artifacts: test.artifacts})), test.want)
		})
	}
}

// A tool need not know that the contract allows only one open request.
func TestReadArtifactFromManyGoroutines(t *testing.T) {
	text := strings.Repeat("0123456789", 1000)
	conn := open(t, reading(func(ctx context.Context, call *pluginwire.ServerCall) (string, error) {
		var wg sync.WaitGroup
		for i := range 32 {
			wg.Go(func() {
				piece, err := call.ReadArtifact(ctx, "h", uint64(i), 10)
				if err != nil || string(piece.Data) != text[i:i+10] {
					t.Errorf("at %d: %q, %v", i, piece.Data, err)
				}
			})
		}
		wg.Wait()
		return "done", nil
	}), pluginwire.ConnConfig{})
	wantText(t, outcome(t, start(t, conn, pluginwire.Start{Complete: true, Artifacts: kept("h", text)})), "done")
}

// An answer without a waiting caller is not the answer to the next request.
func TestReadArtifactAfterOneThatWasLeft(t *testing.T) {
	asked, goOn := make(chan struct{}), make(chan struct{})
	artifacts := func(_ context.Context, handle string, _ uint64, _ int) (tool.ArtifactPiece, error) {
		if handle == "slow" {
			close(asked)
			<-goOn
		}
		return tool.ArtifactPiece{Data: []byte(handle)}, nil
	}
	conn := open(t, reading(func(ctx context.Context, call *pluginwire.ServerCall) (string, error) {
		impatient, leave := context.WithCancel(ctx)
		go func() { <-asked; leave() }()
		if _, err := call.ReadArtifact(impatient, "slow", 0, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("left with %v", err)
		}
		close(goOn)
		piece, err := call.ReadArtifact(ctx, "next", 0, 4)
		return string(piece.Data), err
	}), pluginwire.ConnConfig{})
	wantText(t, outcome(t, start(t, conn, pluginwire.Start{Complete: true, Artifacts: artifacts})), "next")
}

// A tool that waits for an answer is woken by the cancellation of its call.
func TestReadArtifactEndsWithTheCall(t *testing.T) {
	asked := make(chan struct{})
	artifacts := func(ctx context.Context, _ string, _ uint64, _ int) (tool.ArtifactPiece, error) {
		close(asked)
		<-ctx.Done()
		return tool.ArtifactPiece{}, context.Cause(ctx)
	}
	conn := open(t, reading(func(_ context.Context, call *pluginwire.ServerCall) (string, error) {
		_, err := call.ReadArtifact(context.Background(), "h", 0, 1)
		return "", err
	}), pluginwire.ConnConfig{})
	call := start(t, conn, pluginwire.Start{Complete: true, Artifacts: artifacts})
	ctx, leave := context.WithCancel(t.Context())
	go func() { <-asked; call.Cancel("enough"); leave() }()
	ended, err := call.Next(ctx)
	switch {
	case errors.Is(err, context.Canceled): // this end left first
		wantKind(t, outcome(t, call), tool.KindCancelled)
	case err == nil && ended.Ended != nil: // the plugin's end arrived first
		wantKind(t, *ended.Ended, tool.KindCancelled)
	default:
		t.Errorf("Next returned %+v, %v", ended, err)
	}
}

// If a plugin sends a second request before the first is answered, the second is refused; the
// first, a later one, and the call succeed.
func TestQuestionsOneAtATime(t *testing.T) {
	answers := make(chan string, 3)
	conn := openRaw(t, pluginwire.ConnConfig{}, func(stream rawStream) error {
		asking, err := stream.Recv()
		if err != nil {
			return err
		}
		other, err := stream.Recv()
		if err != nil {
			return err
		}
		ask := func() error {
			question := &pluginv1.ConnectResponse_ReadArtifact{ReadArtifact: &pluginv1.ReadArtifact{Handle: "h"}}
			return stream.Send(&pluginv1.ConnectResponse{Call: asking.GetCall(), Frame: question})
		}
		hear := func() error {
			for {
				frame, err := stream.Recv()
				if err != nil {
					return err
				}
				if piece := frame.GetArtifact(); piece != nil {
					answers <- string(piece.GetData()) + piece.GetError().GetMessage()
					return nil
				}
			}
		}
		// The end of the other call arrives after both requests.
		err = errors.Join(ask(), ask(), stream.Send(endOf(other.GetCall(), "other")), hear(), hear(), ask(), hear())
		return errors.Join(err, stream.Send(endOf(asking.GetCall(), "over")))
	})
	asking := start(t, conn, pluginwire.Start{Complete: true, Artifacts: kept("h", "data")})
	wantText(t, outcome(t, start(t, conn, pluginwire.Start{Complete: true})), "other")
	wantText(t, outcome(t, asking), "over")
	const refused = "a call asks for one piece of an artifact at a time"
	if got := []string{<-answers, <-answers, <-answers}; !slices.Equal(got, []string{"data", refused, "data"}) {
		t.Errorf("answers: %q", got)
	}
}

// If the caller of an artifact request stops waiting while the request waits for credit, later
// requests are not blocked.
func TestAnUnsentArtifactRequestBlocksNoOther(t *testing.T) {
	left := make(chan struct{})
	conn := open(t, reading(func(ctx context.Context, call *pluginwire.ServerCall) (string, error) {
		if err := call.Send(ctx, tool.Event{Log: &tool.LogRecord{Level: tool.LogInfo, Message: "takes all credit"}}); err != nil {
			return "", err
		}
		gone, leave := context.WithCancel(ctx)
		leave()
		for range 50 { // half of them leave before it is their turn
			if _, err := call.ReadArtifact(gone, "h", 0, 0); !errors.Is(err, context.Canceled) {
				return "", errors.Join(errors.New("a question was asked without credit"), err)
			}
		}
		close(left)
		piece, err := call.ReadArtifact(ctx, "h", 0, 0)
		return string(piece.Data), err
	}), pluginwire.ConnConfig{CallWindow: 1})
	call := start(t, conn, pluginwire.Start{Complete: true, Artifacts: kept("h", "text")})
	<-left
	if event, err := call.Next(t.Context()); err != nil || event.Log == nil {
		t.Fatalf("%+v, %v", event, err)
	}
	if out := outcome(t, call); out.Err != nil || out.Result.Text() != "text" {
		t.Errorf("it answered %q, %v", out.Result.Text(), out.Err)
	}
}
