package hostpb_test

import (
	"testing"

	"google.golang.org/protobuf/proto"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/tool"
)

// FuzzJoiner passes arbitrary messages to a Joiner.
func FuzzJoiner(f *testing.F) {
	for _, e := range []tool.Event{
		{Started: &tool.Started{CallID: "c"}},
		{Status: &tool.Status{Message: "t"}},
		{Ended: &tool.Outcome{Result: tool.TextResult("x")}},
		{Ended: &tool.Outcome{Err: &tool.Error{Kind: tool.KindDenied}}},
	} {
		for m := range hostpb.FromEvent(e) {
			data, err := proto.Marshal(m)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data, uint32(0), data)
		}
	}
	f.Fuzz(func(t *testing.T, first []byte, index uint32, second []byte) {
		var j hostpb.Joiner
		j.Add(&toolhostv1.CallEvent{Event: &toolhostv1.CallEvent_Chunk{Chunk: &toolhostv1.ContentChunk{Index: index, Data: first}}})
		for _, data := range [][]byte{first, second} {
			var m toolhostv1.CallEvent
			if proto.Unmarshal(data, &m) != nil {
				continue
			}
			e, ok := j.Add(&m)
			if !ok {
				continue
			}
			set := 0
			for _, is := range []bool{e.Started != nil, e.Status != nil, e.Log != nil, e.Ended != nil} {
				if is {
					set++
				}
			}
			if set != 1 {
				t.Errorf("an event has %d parts: %+v", set, e)
			}
		}
	})
}
