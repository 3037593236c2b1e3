package intake

import (
	"bytes"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/toolhost/toolhost/server/internal/fairness/budget"
)

// When the stream of a large answer has ended, its reservation is released although the connection
// stays open, and the connection forgets the stream.
func TestASentAnswerReleasesItsReservation(t *testing.T) {
	const size = 1 << 20
	room := budget.New(64<<20, 0)
	account, err := room.Open("uid:9")
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := net.Pipe()
	c := New(ours, account, slog.Default())
	defer c.Close()
	go io.Copy(io.Discard, theirs) // ends with c

	c.answers.arrive(wireOf(t, []int{3}, false))
	if err := c.answers.owe(size); err != nil || room.Used() != size {
		t.Fatalf("%d bytes are reserved, %v", room.Used(), err)
	}
	if _, err := c.Write(answerOf(t, size)); err != nil {
		t.Fatal(err)
	}
	if room.Used() != 0 || len(c.answers.open) != 0 {
		t.Errorf("after the answer %d bytes are reserved, and %d streams are open", room.Used(), len(c.answers.open))
	}
}

// answerOf returns the frames of a unary answer on the first stream.
func answerOf(t *testing.T, size int) []byte {
	t.Helper()
	var wire, head bytes.Buffer
	framer := http2.NewFramer(&wire, nil)
	message := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(size)), make([]byte, size)...)
	err := hpack.NewEncoder(&head).WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
	if err == nil {
		err = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: head.Bytes(), EndHeaders: true})
	}
	for err == nil && len(message) > 0 {
		n := min(len(message), 16<<10)
		err = framer.WriteData(1, false, message[:n])
		message = message[n:]
	}
	if err == nil {
		err = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: head.Bytes(), EndHeaders: true, EndStream: true})
	}
	if err != nil {
		t.Fatal(err)
	}
	return wire.Bytes()
}
