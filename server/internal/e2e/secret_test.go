package e2e_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
)

// leakyKey has characters that JSON, URLs and base64 encode differently, and is unlikely to occur
// elsewhere.
const leakyKey = "zq7\"Ж/w+ 9&<ßx>~%k=Vj'2"

// withLeaky starts a toolhost whose plugin secretplugin has a secret. It returns the secret's file.
func withLeaky(t *testing.T) (h *toolhost, file string) {
	t.Helper()
	h = prepare(t)
	if err := os.Symlink(filepath.Join(bin, "secretplugin"), filepath.Join(h.plugins, "secretplugin")); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(h.home, "key")
	write(t, file, leakyKey+"\n", 0o644)
	write(t, filepath.Join(h.home, "toolhost.yaml"), `
secrets:
  LEAKY_KEY: {file: key, plugins: [secretplugin]}
  NOT_GRANTED: {file: key, plugins: [calculator]}
`, 0o600)
	h.serve(t, "--log-level", "debug")
	return h, file
}

// leaks returns the parts of a secret in a text: pieces of five bytes, or the whole secret in an
// encoded form.
func leaks(text, secret string) (found []string) {
	for i := range len(secret) - 4 {
		if piece := secret[i : i+5]; strings.Contains(text, piece) {
			found = append(found, piece)
		}
	}
	encoded, err := json.Marshal(secret)
	if err != nil {
		return []string{err.Error()}
	}
	for _, form := range []string{
		strings.Trim(string(encoded), `"`), strings.Trim(strconv.Quote(secret), `"`), hex.EncodeToString([]byte(secret)),
		url.QueryEscape(secret), url.PathEscape(secret),
		base64.RawStdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret)),
		base64.RawStdEncoding.EncodeToString([]byte("user:" + secret))[8:20],
		strings.ToUpper(secret),
	} {
		if strings.Contains(text, form) {
			found = append(found, form)
		}
	}
	return found
}

// tight fails the test if a text contains a part of the secret.
func tight(t *testing.T, where, text string) {
	t.Helper()
	if found := leaks(text, leakyKey); len(found) > 0 {
		t.Errorf("%s holds %q:\n%s", where, found, text)
	}
}

// A plugin shows its secret in every possible place. No caller sees it, and no file contains it.
func TestSecretsStaySecret(t *testing.T) {
	t.Parallel()
	h, _ := withLeaky(t)
	h.do(t, "call", "leak", `{"way":"length"}`).says(t, "the secret has "+strconv.Itoa(len(leakyKey))+" bytes")
	tight(t, "what another tool sees", h.do(t, "call", "stranger", `{}`).stdout)
	for way, shown := range map[string]string{
		"status": "", "log": "", "stderr": "", "stdout": "", "error": "the service said no to [secret LEAKY_KEY]",
		"failure": "no service for [secret LEAKY_KEY]", "panic": "panicked with [secret LEAKY_KEY]", "crash": "", "exit": "exit code 3",
		"text": "text [secret LEAKY_KEY]", "large": "", "json": "[secret LEAKY_KEY]", "file": "", "rest": "done",
	} {
		t.Run(way, func(t *testing.T) {
			args := []string{"call", "leak", `{"way":"` + way + `"}`, "--call-id", way}
			r := h.do(t, append(args, "-o", "json")...)
			if !json.Valid([]byte(r.stdout)) || !strings.Contains(r.stdout, shown) {
				t.Errorf("want JSON with %q, got %s%s", shown, r.stdout, r.stderr)
			}
			tight(t, "what the caller sees", r.stdout+r.stderr)
			again := h.do(t, args...) // as text, replayed by the ledger
			tight(t, "what the caller sees again", again.stdout+again.stderr)
		})
	}
	// an unterminated line is logged when its process ends
	h.do(t, "drain", "secretplugin").exits(t, 0)
	eventually.Holds(t, "what was printed is in the log", func() bool {
		return strings.Contains(h.do(t, "logs", "secretplugin").stdout, "unended [secret LEAKY_KEY]")
	})
	for _, args := range [][]string{
		{"logs", "secretplugin"}, {"logs", "secretplugin", "-o", "json"}, {"why", "secretplugin"}, {"why", "secretplugin", "-o", "json"}, {"events"}, {"events", "-o", "json"},
		{"calls"}, {"calls", "-o", "json"}, {"plugins"}, {"plugins", "-o", "json"}, {"tools"}, {"ps"}, {"stats"},
	} {
		r := h.do(t, args...)
		tight(t, "toolhost "+strings.Join(args, " "), r.stdout+r.stderr)
	}
	h.do(t, "logs", "secretplugin").says(t, "printed [secret LEAKY_KEY]", "twice [secret LEAKY_KEY]", "logged [secret LEAKY_KEY]", "crashed with [secret LEAKY_KEY]")
	h.stop(t)
	tight(t, "toolhost's log", h.stderr.String())
	if !strings.Contains(h.stderr.String(), "[secret LEAKY_KEY]") || !strings.Contains(h.stderr.String(), "chmod 600") {
		t.Error("toolhost's log does not speak of the secret")
	}
	tightFolder(t, h.state)
	tightFolder(t, h.workspace)
}

// tightFolder fails the test if a file contains a part of the secret.
func tightFolder(t *testing.T, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		files++
		if found := leaks(string(data), leakyKey); len(found) > 0 {
			t.Errorf("%s holds %q", path, found)
		}
		return err
	})
	if err != nil || files == 0 && dir != "" && strings.HasSuffix(dir, "state") {
		t.Errorf("%d files were looked at, %v", files, err)
	}
}

// Tools with missing secrets say so in listings and in errors. They work as soon as the secret
// exists.
func TestMissingSecrets(t *testing.T) {
	t.Parallel()
	h, file := withLeaky(t)
	wants := []string{`the secret "NOT_GRANTED" is not granted to the plugin "secretplugin"`, `the secret "NOT_THERE" is not in the configuration`, "plugins: [secretplugin]"}
	h.do(t, "tools").says(t, append(wants, "needy", "unavailable")...)
	out, r := h.callJSON(t, "needy", `{"way":"length"}`)
	r.says(t, wants...)
	if out.Error == nil || out.Error.Kind != "unavailable" {
		t.Errorf("the call ended with %+v", out.Error)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	h.do(t, "tools", "leak").says(t, `the secret "LEAKY_KEY" is missing`, file, "write the value into it")
	h.do(t, "call", "leak", `{"way":"length"}`).says(t, `the secret "LEAKY_KEY" is missing`, file, "nothing was executed")
	if ps := h.do(t, "ps").stdout; strings.Contains(ps, "secretplugin-1") {
		t.Errorf("a process was started:\n%s", ps)
	}
	write(t, file, "another value\r\n", 0o600)
	h.do(t, "call", "leak", `{"way":"length"}`).says(t, "13 bytes")
	write(t, file, "a third value, the newest", 0o600)
	h.do(t, "call", "leak", `{"way":"text"}`).says(t, "text [secret LEAKY_KEY]")
}
