package hostserver_test

import (
	"encoding/json"
	"strings"
	"testing"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// BenchmarkCall measures a call of a client whose host and plugin are in the same process.
func BenchmarkCall(b *testing.B) {
	for name, call := range map[string]tool.Call{
		"1KiB": {Tool: "echo", Arguments: json.RawMessage(`{"text":"` + strings.Repeat("x", 1<<10) + `"}`)},
		"1MiB": {Tool: "large", Arguments: json.RawMessage(`{"bytes":1048576,"kind":"text"}`)},
	} {
		b.Run(name, func(b *testing.B) {
			c := benchClient(b)
			for b.Loop() {
				if _, err := c.Call(b.Context(), call); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/parallel", func(b *testing.B) {
			c := benchClient(b)
			b.SetParallelism(16)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := c.Call(b.Context(), call); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

func benchClient(b *testing.B) remote {
	b.Helper()
	a, _ := serve(b, socket(b), hostserver.Config{Host: hosttest.New(b, nil, hosttest.Tools()...)})
	return dial(b, a)
}

// BenchmarkListTools measures a list of thousands of tools in pages of the default size.
func BenchmarkListTools(b *testing.B) {
	a, _ := serve(b, socket(b), hostserver.Config{Host: hosttest.New(b, nil, numbered(0, 3400)...)})
	service := toolhostv1.NewToolServiceClient(raw(b, a))
	for b.Loop() {
		for req := (&toolhostv1.ListToolsRequest{}); ; {
			resp, err := service.ListTools(b.Context(), req)
			if err != nil {
				b.Fatal(err)
			}
			if req.PageToken = resp.GetNextPageToken(); req.PageToken == "" {
				break
			}
		}
	}
}
