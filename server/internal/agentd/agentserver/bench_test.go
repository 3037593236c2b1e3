package agentserver_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	encodingproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// BenchmarkWatchers measures an event that is delivered to a number of watchers. The watchers are
// in this process and decode nothing, so the processor time is that of agentd and of both ends of
// the transport.
func BenchmarkWatchers(b *testing.B) {
	for _, watchers := range []int{1, 50, 500} {
		b.Run(fmt.Sprint(watchers), func(b *testing.B) {
			fake := &fakeAgent{}
			for i := range max(1, b.N/watchers) {
				e := loop.Event{Seq: uint64(i) + 1, Time: moment, Payload: &loop.AssistantMessage{Message: model.Message{
					Role: model.RoleAssistant, Blocks: []model.Block{{Text: &model.Text{Text: strings.Repeat("some words ", 40)}}},
				}}}
				fake.events = append(fake.events, e)
			}
			_, conn := dial(b, fake)
			before := cpuTime(b)
			b.ResetTimer()
			var group sync.WaitGroup
			for range watchers {
				group.Go(func() {
					stream, err := agentdv1.NewAgentServiceClient(conn).WatchRun(b.Context(), &agentdv1.WatchRunRequest{RunId: "r"}, grpc.ForceCodecV2(undecoded{encoding.GetCodecV2(encodingproto.Name)}))
					for err == nil {
						_, err = stream.Recv()
					}
					if !errors.Is(err, io.EOF) {
						b.Error(err)
					}
				})
			}
			group.Wait()
			b.StopTimer()
			b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/1000/float64(len(fake.events)*watchers), "cpu-µs/delivery")
		})
	}
}

// undecoded is a codec that leaves received messages empty.
type undecoded struct{ encoding.CodecV2 }

func (undecoded) Unmarshal(mem.BufferSlice, any) error { return nil }

func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
