package sdk_test

import (
	"context"
	"testing"

	"github.com/toolhost/toolhost/sdk/internal/transport"
	"github.com/toolhost/toolhost/tool"
)

// benchCall is a call with complete arguments.
type benchCall []byte

func (b benchCall) NextArguments(context.Context) ([]byte, bool, error) { return b, true, nil }
func (benchCall) Send(context.Context, tool.Event) error                { return nil }
func (benchCall) ReadArtifact(context.Context, string, uint64, int) (tool.ArtifactPiece, error) {
	return tool.ArtifactPiece{}, tool.Errorf(tool.KindNotFound, "there are no artifacts")
}
func (benchCall) Ask(context.Context, *tool.Question) (tool.Answer, error) {
	return tool.Answer{}, tool.Errorf(tool.KindUnsupported, "nothing can be asked")
}

// BenchmarkCall measures the SDK's part of a call: parsing, defaults, validation, decoding and
// encoding.
func BenchmarkCall(b *testing.B) {
	server, err := transport.NewHandler(pluginOf(func(_ context.Context, in weatherIn) (forecastOut, error) {
		return forecastOut{Text: in.City, PID: in.Days}, nil
	}), nil)
	if err != nil {
		b.Fatal(err)
	}
	arguments := benchCall(`{"city":"Oslo","days":3}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := server.Call(b.Context(), transport.Info{Tool: "x"}, arguments); err != nil {
			b.Fatal(err)
		}
	}
}
