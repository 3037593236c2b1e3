package process

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/testkit/shortdir"
)

// For any output in any pieces, the lines are those of the text, each cut to its bound.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\r\n\n"), uint8(3), uint8(8))
	f.Add([]byte("longer than may be\nb"), uint8(4), uint8(5))
	f.Add([]byte("\xff\xe2\x82\n\xac\r\r\n"), uint8(1), uint8(2))
	f.Fuzz(func(t *testing.T, data []byte, piece, limit uint8) {
		size, most := int(piece)+1, int(limit)+1
		var got []string
		l := lines{emit: func(line string) { got = append(got, line) }, limit: most}
		for rest := data; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			if n, err := l.Write(rest[:min(size, len(rest))]); err != nil || n != min(size, len(rest)) {
				t.Fatalf("Write = %d, %v", n, err)
			}
			if len(l.buf) > most || len(l.over) > 2*most {
				t.Fatalf("%d and %d bytes are held of a line of at most %d", len(l.buf), len(l.over), most)
			}
		}
		l.Flush()
		if diff := cmp.Diff(splitLines(data, most), got); diff != "" {
			t.Errorf("%q in pieces of %d:\n%s", data, size, diff)
		}
	})
}

// splitLines does what lines does, for a complete text.
func splitLines(data []byte, most int) []string {
	var want []string
	all := bytes.Split(data, []byte("\n"))
	if last := len(all) - 1; len(all[last]) == 0 {
		all = all[:last]
	}
	for _, line := range all {
		text := strings.TrimSuffix(string(line), "\r")
		if len(line) <= most {
			want = append(want, strings.ToValidUTF8(text, "\uFFFD"))
			continue
		}
		begin, end := text[:most-most/endShare], text[max(0, len(text)-most/endShare):]
		want = append(want, strings.ToValidUTF8(begin, "\uFFFD")+cutMark+strings.ToValidUTF8(end, "\uFFFD"))
	}
	return want
}

// Any line becomes a record that can be logged as JSON. A line that is no record stays unchanged.
func FuzzParseRecord(f *testing.F) {
	for _, line := range []string{
		"", "{", `{"@message": 1}`, `{"@message":"a","@level":"info"}`, `{"msg":"a","level":"INFO","x":{}}`, "plain",
		`{"@level":"warn","@message":"m","@module":"p","@timestamp":"2006-01-02T15:04:05Z","call_id":"c","n":1e999}`,
		`{"time":"t","level":"ERROR+2","msg":"m","call_id":7,"a":[null,{"b":"\ud800"}]}`, `{"@message":"a","@level":"info"} {}`,
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		r := parseRecord(line)
		var fields map[string]json.RawMessage
		isRecord := json.Unmarshal([]byte(line), &fields) == nil && strings.HasPrefix(line, "{")
		if r.message != line && !isRecord {
			t.Errorf("%q became %q", line, r.message)
		}
		var out bytes.Buffer
		handler := slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: r.level})
		record := slog.NewRecord(time.Time{}, r.level, r.message, 0)
		record.AddAttrs(r.attrs...)
		if err := handler.Handle(context.Background(), record); err != nil || !json.Valid(out.Bytes()) {
			t.Errorf("%q is logged as %q: %v", line, &out, err)
		}
		if strings.Contains(out.String(), "!ERROR") && !strings.Contains(line, "!ERROR") {
			t.Errorf("%q is logged as %s", line, &out)
		}
	})
}

// A line that reaches go-plugin is a plain handshake for the one socket. All others are refused
// with a short message. DIR stands for the socket's folder.
func FuzzCheckHandshake(f *testing.F) {
	for _, line := range []string{
		"1|1|unix|DIR/s|grpc|", "1|2|unix|DIR/s|grpc", " 1|1|unix|DIR/s|grpc\r", "1|1|unix|DIR/../s|grpc", "1|1|unix|DIR//s|grpc",
		"1|1|unix|DIR/s|grpc|Q0VSVA", "1|1|unix|DIR/s|grpc||", "1|1|tcp|127.0.0.1:1|grpc", "1|1|unix", "||||||", "hello", "1|9|unix|DIR/s|grpc",
		"1|1|unix|DIR/s|netrpc", "1|1|unix|/etc/passwd|grpc", "+1|01|unix|DIR/s|grpc", "1|1|unix|DIR/s\x00|grpc",
	} {
		f.Add(line)
	}
	dir := shortdir.Make(f)
	socket := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = listener.Close() })
	f.Fuzz(func(t *testing.T, line string) {
		line = strings.ToValidUTF8(strings.ReplaceAll(line, "DIR", dir), "\uFFFD") // as lines gives it
		got, err := checkHandshake(line, dir, []int{1, 2})
		if err != nil {
			refused, ok := errors.AsType[*handshakeError](err)
			if !ok || got != "" || len(err.Error()) > 2<<10 || !utf8.ValidString(err.Error()) {
				t.Errorf("%q gives socket %q and the error %v (%+v)", line, got, err, refused)
			}
			return
		}
		fields := strings.Split(strings.TrimSpace(line), "|")
		if got != socket || len(fields) < 5 || len(fields) > 6 || fields[3] != socket || len(fields) == 6 && fields[5] != "" {
			t.Errorf("%q was accepted, with socket %q", line, got)
		}
	})
}
