package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/egress"
	"github.com/toolhost/toolhost/sdk/sdktest"
)

// serve returns a server that answers all requests with the same body.
func serve(t *testing.T, contentType, body string) *web {
	return newWeb(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil // prevents detection by net/http
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		_, _ = w.Write([]byte(body))
	})
}

func TestFormats(t *testing.T) {
	const page = `<!doctype html><html><head><title> A
		page </title><style>p{}</style></head><body><nav>menu</nav><script>alert(1)</script><h1>Hello</h1>
		<p>A <a href="../x?y=1">link</a>, <b>bold</b>.</p><p hidden>secret</p><table><tr><th>k</th></tr><tr><td>v</td></tr></table></body></html>`
	const png = "\x89PNG\r\n\x1a\n\x00\x00"
	for name, test := range map[string]struct {
		contentType, body, format string
		want                      []sdk.Content
	}{
		"a page":               {"text/html", page, "", []sdk.Content{sdk.Text("menu\n\n# Hello\n\nA [link](URL/x?y=1), **bold**.\n\n| k |\n|---|\n| v |")}},
		"a page as text":       {"text/html", page, "text", []sdk.Content{sdk.Text("A page\n\nmenu\n\nHello\n\nA link, bold.\n\nsecret\n\nk\n\nv")}},
		"a page as source":     {"text/html", page, "raw", []sdk.Content{sdk.Text(page)}},
		"a page's main part":   {"text/html", `<body><nav>menu</nav><main><p>text</p></main><footer>f</footer></body>`, "", []sdk.Content{sdk.Text("text")}},
		"a page without type":  {"", "<!doctype html><p>text", "", []sdk.Content{sdk.Text("text")}},
		"XHTML":                {"application/xhtml+xml", "<html><body><p>text</p></body></html>", "", []sdk.Content{sdk.Text("text")}},
		"JSON":                 {"application/json", ` {"a":[1,2]}`, "", []sdk.Content{sdk.JSON([]byte(`{"a":[1,2]}`))}},
		"JSON of a kind":       {"application/ld+json; charset=utf-8", "\uFEFF[1]", "", []sdk.Content{sdk.JSON([]byte(`[1]`))}},
		"JSON as text":         {"application/json", `{"a":1}`, "markdown", []sdk.Content{sdk.Text(`{"a":1}`)}},
		"JSON by another name": {"text/plain", `{"a":1}`, "json", []sdk.Content{sdk.JSON([]byte(`{"a":1}`))}},
		"broken JSON":          {"application/json", `{"a":`, "", []sdk.Content{sdk.Text(`{"a":`)}},
		"plain text":           {"text/plain", "a <b>\n", "", []sdk.Content{sdk.Text("a <b>\n")}},
		"XML":                  {"application/atom+xml", "<feed/>", "", []sdk.Content{sdk.Text("<feed/>")}},
		"a picture in text":    {"image/svg+xml", "<svg/>", "", []sdk.Content{sdk.Text("<svg/>")}},
		"a script":             {"application/x-unheard-of", "echo hi", "", []sdk.Content{sdk.Text("echo hi")}},
		"a picture":            {"image/png", png, "", []sdk.Content{sdk.Image("image/png", []byte(png))}},
		"a picture unnamed":    {"application/octet-stream", png, "raw", []sdk.Content{sdk.Image("image/png", []byte(png))}},
		"a file":               {"application/pdf", "%PDF-1.7\x00", "", []sdk.Content{sdk.File("paper.pdf", "application/pdf", []byte("%PDF-1.7\x00"))}},
		"nothing":              {"text/html", "", "", nil},
		"Latin-1":              {"text/plain; charset=iso-8859-1", "caf\xe9", "", []sdk.Content{sdk.Text("café")}},
		"Latin-1 in a page":    {"text/html", "<meta charset=iso-8859-1><p>caf\xe9", "", []sdk.Content{sdk.Text("café")}},
		"Shift JIS":            {"text/html; charset=shift_jis", "<p>\x93\xfa\x96\x7b", "", []sdk.Content{sdk.Text("日本")}},
		"UTF-16":               {"text/plain", "\xff\xfeh\x00i\x00", "", []sdk.Content{sdk.Text("hi")}},
		"UTF-8, late":          {"text/plain", strings.Repeat("a", 5000) + "é", "", []sdk.Content{sdk.Text(strings.Repeat("a", 5000) + "é")}},
		"no character set":     {"text/plain; charset=none", "caf\xe9", "", []sdk.Content{sdk.Text("café")}},
	} {
		t.Run(name, func(t *testing.T) {
			w := serve(t, test.contentType, test.body)
			arguments := map[string]any{"url": w.URL + "/docs/paper.pdf"}
			if test.format != "" {
				arguments["format"] = test.format
			}
			got := call(t, w.settings, "fetch", arguments)
			says(t, got, false, "200 OK\nurl: "+w.URL+"/docs/paper.pdf")
			for i := range test.want {
				test.want[i].Text = strings.ReplaceAll(test.want[i].Text, "URL", w.URL)
			}
			if got.Err == nil {
				if diff := cmp.Diff(test.want, append([]sdk.Content(nil), got.Content[1:]...)); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func TestSummary(t *testing.T) {
	w := newWeb(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/page?a=1#part", http.StatusMovedPermanently)
		case "/nothing":
			w.WriteHeader(http.StatusNoContent)
		case "/limited":
			w.Header().Set("Retry-After", "7")
			http.Error(w, "too many", http.StatusTooManyRequests)
		default:
			w.Header().Set("Etag", `"1"`)
			w.Header().Set("Set-Cookie", "a=b")
			_, _ = fmt.Fprintf(w, "<title>One\ntwo\x1b[31m</title><p>%s %s", r.Method, r.UserAgent())
		}
	})
	says(t, call(t, w.settings, "fetch", map[string]any{"url": w.URL + "/moved"}), false,
		"200 OK\nurl: "+w.URL+"/page?a=1#part (redirected from "+w.URL+"/moved)\ncontent: text/html; charset=utf-8, 92 bytes\ntitle: One two[31m\netag: \"1\"\nGET toolhost-fetch/1.0 (+https://")
	says(t, call(t, w.settings, "fetch", map[string]any{"url": w.URL + "/limited"}), true, "429 Too Many Requests\nurl: "+w.URL+"/limited\ncontent: text/plain; charset=utf-8, 9 bytes\nretry-after: 7\ntoo many")
	says(t, call(t, w.settings, "fetch", map[string]any{"url": w.URL + "/nothing"}), false, "204 No Content\nurl: "+w.URL+"/nothing\ncontent: none")
	got := call(t, w.settings, "fetch", map[string]any{"url": w.URL + "/", "method": "HEAD"})
	says(t, got, false, "200 OK\nurl: "+w.URL+"/\ncontent-type: text/html; charset=utf-8\ncontent-length: ")
	if strings.Contains(got.Text(), "a=b") || len(got.Content) != 1 {
		t.Errorf("got %q", got.Text())
	}
	says(t, call(t, w.settings, "fetch", map[string]any{"url": w.URL + "/x", "format": "json"}), true, "with no JSON but text/html, which begins so: <title>")
}

func TestRefusedRequests(t *testing.T) {
	w := serve(t, "text/plain", "x")
	w.resolver = names(t, nil)
	for arguments, want := range map[string]string{
		`{"url":"file:///etc/passwd"}`:                                        `the scheme "file" is not supported`,
		`{"url":"gopher://example.com/"}`:                                     `the scheme "gopher"`,
		`{"url":"example.com/a"}`:                                             `the scheme ""`,
		`{"url":"http:///path"}`:                                              "no host",
		`{"url":"http://user:hunter2@example.com/"}`:                          "holds a user name or password",
		`{"url":"http://example.com:port/"}`:                                  "cannot be read",
		`{"url":"http://a b.example/"}`:                                       "cannot be read",
		`{"url":"http://nobody.test/"}`:                                       `there is no host of the name "nobody.test"`,
		`{"url":"http://e.test/","headers":{"Host":"x"}}`:                     "the header Host cannot be set",
		`{"url":"http://e.test/","headers":{"metadata-Flavor":"Google"}}`:     "cannot be set",
		`{"url":"http://e.test/","headers":{"X-aws-ec2-metadata-token":"x"}}`: "cannot be set",
		`{"url":"http://e.test/","headers":{"X-Forwarded-For":"127.0.0.1"}}`:  "cannot be set",
		`{"url":"http://e.test/","headers":{"CF-Connecting-IP":"127.0.0.1"}}`: "cannot be set",
		`{"url":"http://e.test/","headers":{"X-Client-IP":"127.0.0.1"}}`:      "cannot be set",
		`{"url":"http://e.test/","headers":{"x-original-url":"/admin"}}`:      "cannot be set",
		`{"url":"http://e.test/","headers":{"a b":"x"}}`:                      "no name of an HTTP header",
		`{"url":"http://e.test/","headers":{"X-A":"a\r\nHost: b"}}`:           "cannot be sent",
		`{"url":"http://e.test/","method":"POST"}`:                            "method",
		`{"url":"http://e.test/","max_bytes":100000000}`:                      "max_bytes",
	} {
		got := call(t, w.settings, "fetch", arguments)
		says(t, got, true, want)
		if strings.Contains(got.Text(), "hunter2") {
			t.Errorf("a password is shown: %q", got.Text())
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := settings{rules: egress.Rules{Allow: []egress.Grant{allowed(t, listener.Addr())}}}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	says(t, call(t, closed, "fetch", map[string]any{"url": "http://" + listener.Addr().String()}), true, "refuses connections")
	says(t, call(t, w.settings, "fetch", map[string]any{"url": strings.Replace(w.URL, "http:", "https:", 1)}), true, "HTTP")
}

// redirecting returns two servers. Their paths redirect to themselves and to each other.
func redirecting(t *testing.T) (w, other *web) {
	t.Helper()
	w = newWeb(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/same":
			http.Redirect(w, r, "/end", http.StatusFound)
		case "/other":
			http.Redirect(w, r, other.URL+"/end", http.StatusTemporaryRedirect)
		case "/back":
			http.Redirect(w, r, other.URL+"/back", http.StatusFound)
		case "/hop":
			http.Redirect(w, r, other.URL+"/hop", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case "/user":
			http.Redirect(w, r, "http://user:hunter2@"+r.Host+"/end", http.StatusFound)
		}
	})
	other = newWeb(t, func(answer http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/back":
			http.Redirect(answer, r, w.URL+"/end", http.StatusFound)
		case "/hop":
			http.Redirect(answer, r, "/end", http.StatusFound)
		}
	})
	return w, other
}

// Headers that the model sets for one origin do not reach another one, not even by later redirects.
func TestRedirects(t *testing.T) {
	w, other := redirecting(t)
	s := settings{rules: egress.Rules{Allow: append(w.rules.Allow, other.rules.Allow...)}}
	headers := map[string]any{"Authorization": "Bearer s3cret", "X-Api-Key": "s3cret", "Accept": "text/x-mine"}
	last := func(w *web) http.Header {
		all := w.requests()
		return all[len(all)-1].Header
	}
	ask := func(path string) *sdktest.Call {
		return call(t, s, "fetch", map[string]any{"url": w.URL + path, "headers": headers})
	}
	says(t, ask("/same"), false, "200 OK")
	if got := last(w); got.Get("Authorization") == "" || got.Get("X-Api-Key") == "" || got.Get("Referer") != "" {
		t.Errorf("to the same origin: %v", got)
	}
	says(t, ask("/other"), false, "200 OK")
	if got := last(other); strings.Contains(fmt.Sprint(got), "s3cret") || got.Get("Accept") != "text/x-mine" || got.Get("Referer") != "" {
		t.Errorf("to another origin: %v", got)
	}
	says(t, ask("/back"), false, "200 OK")
	if got := last(w); strings.Contains(fmt.Sprint(got), "s3cret") {
		t.Errorf("back from another origin: %v", got)
	}
	says(t, ask("/hop"), false, "200 OK")
	if got := last(other); strings.Contains(fmt.Sprint(got), "s3cret") {
		t.Errorf("a second time to another origin: %v", got)
	}
	says(t, ask("/loop"), true, "it redirected more than 10 times")
	says(t, ask("/file"), true, `the scheme "file" is not supported`)
	says(t, ask("/user"), true, "holds a user name or password")
	if got := ask("/user"); strings.Contains(got.Text(), "hunter2") {
		t.Errorf("a password is shown: %q", got.Text())
	}
	before := len(other.requests())
	says(t, call(t, s, "http_request", map[string]any{"url": w.URL + "/other", "headers": headers, "body": "s3cret"}), false, "307 Temporary Redirect")
	if len(other.requests()) != before {
		t.Error("http_request followed a redirect")
	}
}

func TestRequests(t *testing.T) {
	w := newWeb(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/plain")
		if r.Method == http.MethodPut {
			w.WriteHeader(http.StatusUnprocessableEntity)
		}
		_, _ = fmt.Fprintf(w, "%s %s %q", r.Method, r.Header.Get("Content-Type"), body)
	})
	for arguments, want := range map[string]string{
		`"body":"{\"a\":1}"`:          `POST application/json "{\"a\":1}"`,
		`"body":"a","method":"PATCH"`: `PATCH text/plain; charset=utf-8 "a"`,
		`"method":"DELETE"`:           `DELETE  ""`,
		`"body":"q=1","headers":{"content-type":"application/x-www-form-urlencoded"}`: `POST application/x-www-form-urlencoded "q=1"`,
		`"body":"a","method":"PUT"`: `PUT text/plain; charset=utf-8 "a"`,
	} {
		says(t, call(t, w.settings, "http_request", fmt.Sprintf(`{"url":%q,%s}`, w.URL, arguments)), strings.HasPrefix(want, "PUT"), want)
	}
	says(t, call(t, w.settings, "http_request", fmt.Sprintf(`{"url":%q,"method":"GET"}`, w.URL)), true, "method")
}

func TestSizes(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 8 {
		_, _ = z.Write(bytes.Repeat([]byte("a"), 1<<20))
	}
	_ = z.Close()
	w := newWeb(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/bomb":
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		case "/brotli":
			w.Header().Set("Content-Encoding", "br")
			_, _ = w.Write([]byte("x"))
		case "/endless":
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte(strings.Repeat("é", 1000)))
			}
		case "/headers":
			for i := range 1000 {
				w.Header().Set(fmt.Sprint("X-", i), strings.Repeat("x", 1000))
			}
		case "/image":
			w.Header().Set("Content-Type", "image/png")
			_, _ = w.Write(make([]byte, 1000))
		case "/json":
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`[` + strings.Repeat(`1,`, 1000) + `1]`))
		case "/short":
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte("half"))
		}
	})
	ask := func(path string, most int) *sdktest.Call {
		return call(t, w.settings, "fetch", map[string]any{"url": w.URL + path, "max_bytes": most})
	}
	const more = "[Only the first 101 bytes were read; there is more. A larger max_bytes reads more.]"
	says(t, ask("/bomb", 101), false, more)
	says(t, ask("/endless", 101), false, strings.Repeat("é", 50)+"\n"+more)
	says(t, ask("/brotli", 101), true, `the encoding "br"`)
	says(t, ask("/headers", 101), true, "server response headers exceeded")
	says(t, ask("/image", 101), false, "nothing of it is shown")
	says(t, ask("/json", 101), false, more)
	says(t, ask("/short", 101), false, "half\n[The answer broke off after 4 of 1000 bytes (the server ended it). The rest is missing. Fetching it once more may give the whole.]")
	if got := ask("/bomb", 1<<20); got.Err != nil || len(got.Text()) > 1<<20+1000 {
		t.Errorf("got %d bytes, %v", len(got.Text()), got.Err)
	}
}

// A page may be designed to be costly. The cost is bounded, and the text is still returned.
func TestHostilePages(t *testing.T) {
	const alone = "[This is the page's text alone: "
	for name, test := range map[string]struct{ body, want string }{
		"deep":            {strings.Repeat("<div>", 100_000) + "TEXT", alone},
		"deep in letters": {strings.Repeat("<b>", 100_000) + "TEXT", alone},
		"large":           {strings.Repeat("<p>x</p>", maxMarkup/8) + "TEXT", alone},
		"wide cells":      {"<table><tr><td colspan=1000000000 rowspan=1000000000>TEXT</table>", "TEXT"},
		"many wide cells": {"<table><tr>" + strings.Repeat("<td colspan=1000 rowspan=1000>TEXT", 100) + "</table>", "TEXT"},
		"a long row":      {"<table><tr>" + strings.Repeat("<td>a", 10_000) + strings.Repeat("<tr><td>b", 10_000) + "<tr><td>TEXT</table>", "TEXT"},
		"a table":         {"<table>" + strings.Repeat("<tr><th rowspan=9>a<td>b", 20_000) + "<tr><td>TEXT<td><pre>" + strings.Repeat("c|\n", 100_000) + "</table>", "TEXT"},
		"many links":      {strings.Repeat("<a href=x>l</a>", 10_000) + "TEXT", "TEXT"},
		"quotations":      {strings.Repeat("<blockquote>", 400) + strings.Repeat("a<br>", 5000) + "TEXT", "TEXT"},
		"lists":           {strings.Repeat("<ul><li>a", 200) + "TEXT", "TEXT"},
		"tables":          {strings.Repeat("<table><tr><td>", 100) + "TEXT", "TEXT"},
		"a long title":    {"<title>" + strings.Repeat("t", 1<<20) + "</title>TEXT", "TEXT"},
		"unclosed":        {"<p>TEXT<script>" + strings.Repeat("<", 100_000), "TEXT"},
	} {
		t.Run(name, func(t *testing.T) {
			w := serve(t, "text/html", test.body)
			got := call(t, w.settings, "fetch", map[string]any{"url": w.URL + "/" + strings.Repeat("long/", 1000), "max_bytes": 10 << 20})
			says(t, got, false, test.want)
			says(t, got, false, "TEXT")
			if size := len(got.Text()); size > 6*len(test.body)+100_000 {
				t.Errorf("%d bytes became %d", len(test.body), size)
			}
		})
	}
}

func TestTime(t *testing.T) {
	asked := make(chan struct{}, 2)
	w := newWeb(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("begun"))
		_ = http.NewResponseController(w).Flush()
		asked <- struct{}{}
		<-r.Context().Done()
	})
	says(t, call(t, w.settings, "fetch", map[string]any{"url": w.URL, "timeout_seconds": 1}), true, "did not answer in time")
	<-asked
	ctx, cancel := context.WithCancel(t.Context())
	s := sdktest.New(t, plugin(w.settings)).Stream("fetch", sdktest.WithContext(ctx))
	s.Complete(map[string]any{"url": w.URL})
	<-asked
	cancel()
	if got := s.Wait(); got.Err == nil || got.Err.Kind != "cancelled" {
		t.Errorf("got %+v", got)
	}
}

func TestHTTPS(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.Proto)) }))
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	s := settings{rules: egress.Rules{Allow: []egress.Grant{allowed(t, server.Listener.Addr())}}}
	says(t, call(t, s, "fetch", map[string]any{"url": server.URL}), true, "certificate")
	s.roots = x509.NewCertPool()
	s.roots.AddCert(server.Certificate())
	says(t, call(t, s, "fetch", map[string]any{"url": server.URL}), false, "HTTP/2.0")
}

func TestIsolated(t *testing.T) {
	for _, err := range []error{syscall.EPERM, syscall.EACCES} {
		got := failure(t.Context(), mustParse(t, "http://a.example/"), &net.OpError{Op: "dial", Err: err})
		if e, ok := errors.AsType[*sdk.Error](got); !ok || e.Kind != "unavailable" || !strings.Contains(e.Message, "plugin.fetch.sandbox.network: true") {
			t.Errorf("%v: got %v", err, got)
		}
	}
}
