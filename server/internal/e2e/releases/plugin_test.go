package releases

import (
	"bufio"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	"github.com/toolhost/toolhost/internal/version"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/e2e/languages/setup"
	"github.com/toolhost/toolhost/tool"
)

// patience bounds each start of a plugin and each replayed RPC, so that a hang fails a test by
// name.
const patience = 2 * time.Minute

// startPlugin starts a plugin as toolhost does, and returns its socket.
func startPlugin(t *testing.T, h home, command ...string) string {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = []string{
		pluginwire.CookieKey + "=" + pluginwire.CookieValue, "PLUGIN_PROTOCOL_VERSIONS=1", "PLUGIN_UNIX_SOCKET_DIR=" + string(h),
		"TMPDIR=" + string(h), "HOME=" + string(h),
	}
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	// The end of the process ends the read.
	late := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	late.Stop()
	parts := strings.Split(strings.TrimSpace(line), "|")
	if err != nil || len(parts) < 5 {
		t.Fatalf("the plugin printed %q: %v", line, err)
	}
	return parts[3]
}

// conversation is a sequence of calls to the plugin of server/internal/e2e/languages, with what its
// caller must see. A call starts after the end of the one before it, so that the order of the
// recorded frames does not depend on chance.
var conversation = []struct {
	tool, arguments string
	rest            string // the rest of the arguments, after the first status
	statuses, logs  int
	text            string // of the result
	isError         bool
	effects         int
	failure         tool.Kind
}{
	{tool: "say", arguments: `{"text":"naïve 😀"}`, text: "naïve 😀"},
	{tool: "echo", arguments: `{"n":[9007199254740993,1.50],"ключ":"<a & b>"}`, text: `{"n":[9007199254740993,1.50],"ключ":"<a & b>"}`},
	{tool: "steps", arguments: `{}`, statuses: 5, logs: 1, text: "stepped"},
	{tool: "effects", arguments: `{}`, text: "planned", effects: 3},
	{tool: "about_the_call", arguments: `{}`, text: `{"call_id":"about_the_call","attempt":1,"colour":"green"}`},
	{tool: "draft", arguments: `{"text":"Dear Ms. |`, rest: ` Brown"}`, statuses: 3, text: "Dear Ms. | Brown after Dear Ms. |"},
	{tool: "fail", arguments: `{"message":"no such street"}`, text: "no such street", isError: true},
	{tool: "break_down", arguments: `{"kind":"rate_limited","message":"later","retry_after_ms":1500}`, failure: tool.KindRateLimited},
}

// converse asks a plugin for its description and makes the calls of the conversation.
func converse(t *testing.T, conn *grpc.ClientConn) tool.Description {
	t.Helper()
	host := pluginwire.NewConn(conn, pluginwire.ConnConfig{})
	defer host.Close()
	d, err := host.Describe(t.Context(), pluginwire.DescribeRequest{})
	if err == nil {
		err = host.Open(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range conversation {
		makeCall(t, host, i)
	}
	return d
}

// makeCall makes one call of the conversation, and checks what its caller sees.
func makeCall(t *testing.T, host *pluginwire.Conn, number int) {
	t.Helper()
	c := conversation[number]
	call, err := host.Start(t.Context(), pluginwire.Start{
		CallID: c.tool, Tool: c.tool, Arguments: []byte(c.arguments), Complete: c.rest == "", Session: "s",
		Values: map[string]json.RawMessage{"colour": json.RawMessage(`"green"`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer call.Close()
	statuses, logs := 0, 0
	for {
		event, err := call.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case event.Status != nil:
			statuses++
			if c.rest != "" && statuses == 1 {
				if err := call.Append(t.Context(), []byte(c.rest)); err != nil {
					t.Fatal(err)
				}
				if err := call.Complete(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
			}
		case event.Log != nil:
			logs++
		case event.Ended != nil:
			result := event.Ended.Result
			var kind tool.Kind
			if failure := event.Ended.Err; failure != nil {
				kind = failure.Kind
			}
			if statuses != c.statuses || logs != c.logs || kind != c.failure ||
				result.Text() != c.text || result.IsError != c.isError || len(result.Effects) != c.effects {
				t.Errorf("%s: %d statuses, %d logs, %+v, error %q; want %+v", c.tool, statuses, logs, result, kind, c)
			}
			return
		}
	}
}

// writePlugin records the conversation with a plugin.
func writePlugin(t *testing.T, l setup.Language) {
	t.Helper()
	h := newHome(t)
	r := &recorder{upstream: dialRaw(t, startPlugin(t, h, l.Plugin...))}
	serveRaw(t, h.path("p.sock"), r.pass)
	converse(t, dialRaw(t, h.path("p.sock")))
	r.save(t, pluginFile(filepath.Join("testdata", version.Number), l.Name))
}

// pluginFile is the recorded conversation with the plugin of a language.
func pluginFile(fixture, language string) string {
	return filepath.Join(fixture, "plugin-"+language+".json")
}

// TestWritePlugin records the conversation with the Go plugin. It does nothing without -write.
func TestWritePlugin(t *testing.T) {
	if *write {
		writePlugin(t, goPlugin(t))
	}
}

func goPlugin(t *testing.T) setup.Language {
	t.Helper()
	l, err := setup.Go(t.Context(), filepath.Join(t.TempDir(), "bin"))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// toolhost's end of the plugin contract understands the answers of a release's plugins, in all
// languages.
func TestPluginsOfReleases(t *testing.T) {
	for _, fixture := range fixtures(t) {
		for _, language := range []string{"go", "python", "typescript"} {
			t.Run(filepath.Base(fixture)+"/"+language, func(t *testing.T) {
				t.Parallel()
				h := newHome(t)
				serveRecorded(t, h.path("p.sock"), load(t, pluginFile(fixture, language)))
				d := converse(t, dialRaw(t, h.path("p.sock")))
				if d.Name != "table" || len(d.Tools) != 14 || d.SDK == nil || d.SDK.Name != "toolhost-"+language || d.SDK.Version != filepath.Base(fixture) {
					t.Errorf("the plugin of the release describes itself as %+v, with the SDK %+v", d, d.SDK)
				}
			})
		}
	}
}

// serveRecorded answers each RPC as a recorded plugin did. It answers a call after the call's
// start, and ends it after the call's arguments are complete, as a plugin does.
func serveRecorded(t *testing.T, socket string, recorded []*exchange) {
	t.Helper()
	serveRaw(t, socket, func(method string, stream grpc.ServerStream) error {
		e := recorded[slices.IndexFunc(recorded, func(e *exchange) bool { return e.Method == method })]
		left := e.Responses
		if err := stream.SendHeader(metadata.MD(e.Answer)); err != nil {
			return err
		}
		started, complete := map[uint32]bool{}, map[uint32]bool{}
		due := func(response []byte) bool {
			for _, frame := range frames(response) {
				if !started[frame.GetCall()] || frame.GetEnd() != nil && !complete[frame.GetCall()] {
					return false
				}
			}
			return true
		}
		for {
			var request []byte
			if err := stream.RecvMsg(&request); err != nil {
				return nil // toolhost has closed the stream
			}
			if !strings.HasSuffix(method, "/Connect") {
				return stream.SendMsg(&left[0])
			}
			var m pluginv1.ConnectRequest
			if err := proto.Unmarshal(request, &m); err != nil {
				return err
			}
			for _, frame := range append([]*pluginv1.ConnectRequest{&m}, m.GetBatch()...) {
				if start := frame.GetStart(); start != nil {
					started[frame.GetCall()], complete[frame.GetCall()] = true, start.GetComplete()
				}
				if frame.GetComplete() != nil {
					complete[frame.GetCall()] = true
				}
			}
			for ; len(left) > 0 && due(left[0]); left = left[1:] {
				if err := stream.SendMsg(&left[0]); err != nil {
					return err
				}
			}
		}
	})
}

// frames returns the frames of a message of a plugin that belong to calls.
func frames(response []byte) []*pluginv1.ConnectResponse {
	var m pluginv1.ConnectResponse
	if proto.Unmarshal(response, &m) != nil {
		return nil
	}
	all := append([]*pluginv1.ConnectResponse{&m}, m.GetBatch()...)
	return slices.DeleteFunc(all, func(frame *pluginv1.ConnectResponse) bool { return frame.GetCall() == 0 })
}

// ends returns the number of calls that the messages of a plugin end.
func ends(responses [][]byte) (count int) {
	for _, response := range responses {
		for _, frame := range frames(response) {
			if frame.GetEnd() != nil {
				count++
			}
		}
	}
	return count
}

// A Go plugin of this tree answers the requests of a release's toolhost as the plugin of the
// release did.
func TestPluginConversation(t *testing.T) { answersAsBefore(t, goPlugin(t)) }

// answersAsBefore sends the recorded requests of each release to a plugin of this tree.
func answersAsBefore(t *testing.T, l setup.Language) {
	t.Helper()
	for _, fixture := range fixtures(t) {
		release := filepath.Base(fixture)
		t.Run(release, func(t *testing.T) {
			then := contractsOf(t, release)
			plugin := dialRaw(t, startPlugin(t, newHome(t), l.Plugin...))
			for _, e := range load(t, pluginFile(fixture, l.Name)) {
				responses := replayPaced(t, plugin, then, e)
				want, got := then.seen(t, e.Method, e.Responses), then.seen(t, e.Method, responses)
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("the plugin's answer to %s has changed (-%s +now):\n%s", e.Method, release, diff)
				}
			}
		})
	}
}
