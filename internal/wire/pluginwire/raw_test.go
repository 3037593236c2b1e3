package pluginwire_test

import (
	"testing"

	"google.golang.org/grpc"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
)

// rawPlugin sends frames directly, so that it can violate the contract.
type rawPlugin struct {
	pluginv1.UnimplementedToolPluginServiceServer
	connect func(rawStream) error
}

func (p rawPlugin) Connect(stream rawStream) error { return p.connect(stream) }

func openRaw(t testing.TB, cfg pluginwire.ConnConfig, connect func(rawStream) error) *pluginwire.Conn {
	t.Helper()
	cc, _ := serve(t, func(s *grpc.Server) {
		pluginv1.RegisterToolPluginServiceServer(s, rawPlugin{connect: connect})
	})
	return openOn(t, cc, cfg)
}

func endFrame(call uint32, result *toolv1.Result) *pluginv1.ConnectResponse {
	end := &pluginv1.CallEnd{Outcome: &pluginv1.CallEnd_Result{Result: result}}
	return &pluginv1.ConnectResponse{Call: call, Frame: &pluginv1.ConnectResponse_End{End: end}}
}

func textBlock(text string) *toolv1.Content {
	return &toolv1.Content{Block: &toolv1.Content_Text{Text: text}}
}

func endOf(call uint32, text string) *pluginv1.ConnectResponse {
	return endFrame(call, &toolv1.Result{Content: []*toolv1.Content{textBlock(text)}})
}

func chunkFrame(call, index uint32, data []byte) *pluginv1.ConnectResponse {
	chunk := &pluginv1.ContentChunk{Index: index, Data: data}
	return &pluginv1.ConnectResponse{Call: call, Frame: &pluginv1.ConnectResponse_Chunk{Chunk: chunk}}
}

func statusFrame(call uint32, status *toolv1.Status) *pluginv1.ConnectResponse {
	return &pluginv1.ConnectResponse{Call: call, Frame: &pluginv1.ConnectResponse_Status{Status: status}}
}
