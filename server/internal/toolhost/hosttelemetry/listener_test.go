package hosttelemetry_test

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testkit/shortdir"
	"github.com/toolhost/toolhost/server/internal/telemetry"
)

// A web page can let a name of its own resolve to 127.0.0.1 and then read what a listener there
// answers. The browser sends the page's name.
func TestListenerRefusesNames(t *testing.T) {
	for public, codes := range map[bool]map[string]int{
		false: {"127.0.0.1:1": 200, "[::1]": 200, "[::1]:9464": 200, "localhost:9464": 200, "": 200, "evil.example": 403, "evil.example:9464": 403, "127.0.0.1.evil.example": 403},
		true:  {"metrics.example:9464": 200, "127.0.0.1:1": 200},
	} {
		s := settings()
		s.Listen, s.Public = "127.0.0.1:0", public
		tele, _ := open(t, s, nil, io.Discard)
		for host, want := range codes {
			for _, path := range []string{"/metrics", "/healthz"} {
				request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+tele.Listening()+path, http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				request.Close, request.Host = true, host
				response, err := http.DefaultClient.Do(request)
				if err != nil {
					t.Fatal(err)
				}
				if response.Body.Close(); response.StatusCode != want {
					t.Errorf("%s of the host %q is %d, want %d", path, host, response.StatusCode, want)
				}
			}
		}
	}
}

// A program that opens connections and sends nothing gets no more than 64 of them, and keeps no
// other client from an answer.
func TestListenerBoundsConnections(t *testing.T) {
	const most = 64
	s := settings()
	s.Listen = "127.0.0.1:0"
	tele, _ := open(t, s, nil, io.Discard)
	var idle []net.Conn
	for range 3 * most {
		conn, err := net.Dial("tcp", tele.Listening())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		idle = append(idle, conn)
	}
	if code, _ := read(t, tele, "/healthz"); code != http.StatusOK {
		t.Errorf("/healthz is %d", code)
	}
	for i, conn := range idle[:2*most] { // the server may have accepted, and not yet followed, the rest
		_ = conn.SetReadDeadline(time.Now().Add(time.Minute)) // fails the test instead of hanging
		if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("connection %d: %v", i, err)
		}
	}
}

func TestListenerBoundsHeaders(t *testing.T) {
	s := settings()
	s.Listen = "127.0.0.1:0"
	tele, _ := open(t, s, nil, io.Discard)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+tele.Listening()+"/healthz", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Large", strings.Repeat("x", 64<<10))
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if response.Body.Close(); response.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a large header: %d", response.StatusCode)
	}
}

// A client that sends requests and reads no answers gets no second one.
func TestListenerGivesOneAnswer(t *testing.T) {
	s := settings()
	s.Listen = "127.0.0.1:0"
	tele, _ := open(t, s, nil, io.Discard)
	conn, err := net.Dial("tcp", tele.Listening())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, strings.Repeat("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 2)); err != nil {
		t.Fatal(err)
	}
	answers, err := io.ReadAll(conn)
	if n := strings.Count(string(answers), "HTTP/1.1"); n != 1 {
		t.Errorf("%d answers, then %v", n, err)
	}
}

// Profiles are for this user only, so other users must not be able to replace their socket.
func TestProfilesNeedAFolderOfThisUser(t *testing.T) {
	for mode, allowed := range map[os.FileMode]bool{0o700: true, 0o755: true, 0o777 | os.ModeSticky: true, 0o772: false, 0o777: false} {
		dir := shortdir.Make(t)
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		s := settings()
		s.Pprof = dir + "/p.sock"
		tele, err := telemetry.Open(t.Context(), telemetry.Config{
			Settings: s, Service: "toolhost", Version: "1", Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
		})
		if allowed != (err == nil) || err != nil && !strings.Contains(err.Error(), "chmod go-w") {
			t.Errorf("in a folder with mode %v: %v", mode, err)
		}
		if err == nil {
			tele.Close()
		}
	}
}
