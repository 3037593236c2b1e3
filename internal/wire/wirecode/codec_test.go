package wirecode_test

import (
	"strings"
	"testing"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/wirecode"
)

// roundTrip checks that the codec encodes m in the announced size, and that protobuf decodes the
// same message.
func roundTrip(t *testing.T, m message) {
	t.Helper()
	if got, want := m.SizeWire(), proto.Size(m); got != want {
		t.Fatalf("the size of %v is %d, want %d", m, got, want)
	}
	data, err := wirecode.NewCodec().Marshal(m)
	if err != nil {
		t.Fatalf("encoding %v: %v", m, err)
	}
	got := empty(m)
	if err := proto.Unmarshal(data.Materialize(), got); err != nil {
		t.Fatalf("what %v was made: %v", m, err)
	}
	if !proto.Equal(got, m) {
		t.Fatalf("%v\ncame back as\n%v", m, got)
	}
	data.Free()
}

func TestMessagesComeBackTheSame(t *testing.T) {
	for _, m := range filled(100) {
		roundTrip(t, m)
	}
}

func TestNothingWhereThereShouldBeSomething(t *testing.T) {
	for _, m := range []message{
		(*toolhostv1.ConnectResponse)(nil),
		&toolhostv1.ConnectRequest{Frame: &toolhostv1.ConnectRequest_Start{}},
		&toolhostv1.ConnectRequest{Batch: []*toolhostv1.ConnectRequest{nil, {}}},
		&toolhostv1.CallResponse{Result: &toolv1.Result{Content: []*toolv1.Content{nil, {Block: &toolv1.Content_Text{}}, {Block: &toolv1.Content_Image{}}}}},
	} {
		data, err := wirecode.NewCodec().Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		want, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if got := data.Materialize(); string(got) != string(want) {
			t.Errorf("%v is %x, want %x", m, got, want)
		}
	}
}

// answer returns the end of a call with these texts; the first is also sent as bytes.
func answer(texts ...string) *toolhostv1.ConnectResponse {
	result := &toolv1.Result{}
	for _, text := range texts {
		result.Content = append(result.Content, &toolv1.Content{Block: &toolv1.Content_Text{Text: text}})
	}
	result.Content = append(result.Content, &toolv1.Content{Block: &toolv1.Content_Json{Json: []byte(texts[0])}})
	return &toolhostv1.ConnectResponse{Call: 7, Event: &toolhostv1.CallEvent{Event: &toolhostv1.CallEvent_Ended{
		Ended: &toolhostv1.CallEnded{CallId: "c", Outcome: &toolhostv1.CallEnded_Result{Result: result}},
	}}}
}

// sizes are payload sizes that use each of the pools, and one that uses none.
var sizes = []int{10, 2 << 10, 20 << 10, 64 << 10, 300 << 10}

func TestSentBuffersKeepTheirContent(t *testing.T) {
	codec := wirecode.NewCodec()
	for _, size := range sizes {
		first, second := answer(strings.Repeat("a", size)), answer(strings.Repeat("b", size))
		sent, err := codec.Marshal(first)
		if err != nil {
			t.Fatal(err)
		}
		other, err := codec.Marshal(second)
		if err != nil {
			t.Fatal(err)
		}
		got := &toolhostv1.ConnectResponse{}
		if err := codec.Unmarshal(sent, got); err != nil || !proto.Equal(got, first) {
			t.Errorf("a text of %d bytes was sent as another (%v)", size, err)
		}
		sent.Free()
		other.Free()
	}
}

// pieces splits encoded like gRPC does, with each piece in reused memory.
func pieces(encoded []byte, size int) mem.BufferSlice {
	var data mem.BufferSlice
	for len(encoded) > 0 {
		n := min(size, len(encoded))
		data = append(data, mem.Copy(encoded[:n], mem.DefaultBufferPool()))
		encoded = encoded[n:]
	}
	return data
}

func TestReceivedMessagesKeepTheirContent(t *testing.T) {
	codec := wirecode.NewCodec()
	for _, size := range sizes {
		texts := []string{strings.Repeat("some text ", size/10), strings.Repeat("more of it ", size/11), "short"}
		encoded, err := proto.Marshal(answer(texts...))
		if err != nil {
			t.Fatal(err)
		}
		got := &toolhostv1.ConnectResponse{Call: 9, Batch: []*toolhostv1.ConnectResponse{{}}} // Unmarshal must replace the content
		data := pieces(encoded, 16<<10)
		if err := codec.Unmarshal(data, got); err != nil {
			t.Fatal(err)
		}
		data.Free()
		for range 3 { // other users of the same memory
			other := pieces([]byte(strings.ToUpper(string(encoded))), 16<<10)
			_ = codec.Unmarshal(other, &toolhostv1.ConnectResponse{})
			other.Free()
		}
		if !proto.Equal(got, answer(texts...)) {
			t.Errorf("texts of %d bytes changed after they were received", size)
		}
	}
}

func TestOtherMessagesAreEncodedAsEver(t *testing.T) {
	codec, want := wirecode.NewCodec(), &healthv1.HealthCheckRequest{Service: "s"}
	data, err := codec.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got := &healthv1.HealthCheckRequest{}
	if err := codec.Unmarshal(data, got); err != nil || !proto.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if _, err := codec.Marshal("no message"); err == nil {
		t.Error("what is no message was encoded")
	}
	if codec.Name() != "proto" {
		t.Errorf("the codec's name is %q, which other ends do not know", codec.Name())
	}
}

// restless is a message whose size changes between measuring and writing.
type restless struct{ measured, written int }

func (restless) Reset()                         {}
func (m restless) SizeWire() int                { return m.measured }
func (m restless) WriteWire(w *wirecode.Writer) { w.Raw(make([]byte, m.written)) }
func (restless) ReadWire(*wirecode.Reader)      {}

func TestMessagesThatChangeAreNotSent(t *testing.T) {
	codec := wirecode.NewCodec()
	for _, size := range []int{100, 10 << 10, 100 << 10} {
		for _, m := range []restless{{size, size + 1}, {size, size - 1}} {
			if data, err := codec.Marshal(m); err == nil {
				t.Errorf("%+v was encoded, to %d bytes", m, data.Len())
			}
		}
		if _, err := codec.Marshal(restless{size, size}); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}
