package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// A page without text says why, and what helps. A page that a browser leaves says where to.
func TestPagesWithoutText(t *testing.T) {
	const app = `<html><head><title>App</title><script src=app.js></script></head><body>`
	for name, test := range map[string]struct{ body, want string }{
		"nothing":           {`<html><body></body></html>`, "[This page: it has no text; the format raw shows the source.]"},
		"scripts":           {app + `<div id=root></div>`, "because scripts make its content in a browser"},
		"an empty main":     {app + `<main id=root></main>`, "because scripts make its content in a browser"},
		"noscript":          {app + `<noscript>You need <b>JavaScript</b> to run this app.</noscript>`, `without scripts it says "You need JavaScript to run this app."`},
		"main beside text":  {app + `<main></main><p>About 42 lamps`, "About 42 lamps"},
		"refresh":           {`<meta http-equiv="refresh" content="0; url=/next?a=1">`, "a browser goes on from here to URL/next?a=1: fetch that.]"},
		"refresh in words":  {`<meta http-equiv=Refresh content="5;URL='https://other.test/x'">Moved.`, "Moved.\n[This page: a browser goes on from here to https://other.test/x: fetch that.]"},
		"refresh, a comma":  {`<meta http-equiv=refresh content="0,/next">`, "to URL/next: fetch"},
		"refresh, no name":  {`<meta http-equiv=refresh content="0; next">`, "to URL/next: fetch"},
		"refresh, a script": {`<meta http-equiv=refresh content="0; url=javascript:go()">`, "it has no text;"},
		"reloads itself":    {`<meta http-equiv=refresh content="30">`, "it has no text;"},
		"frames":            {`<frameset cols=*,*><frame src=a.html><frame src="/b.html"></frameset>`, "can be fetched: URL/a.html URL/b.html.]"},
		"a frame":           {`<body><iframe src="https://docs.test/"></iframe>`, "can be fetched: https://docs.test/.]"},
		"pictures":          {`<img src=a.png alt=plan>`, "![plan](URL/a.png)"},
	} {
		t.Run(name, func(t *testing.T) {
			w := serve(t, "text/html", test.body)
			want := strings.ReplaceAll(test.want, "URL", strings.TrimSuffix(w.URL, "/"))
			for _, format := range []string{"markdown", "text"} {
				if name == "pictures" && format == "text" {
					want = "it has no text;"
				}
				says(t, call(t, w.settings, "fetch", map[string]any{"url": w.URL, "format": format}), false, want)
			}
		})
	}
	w := serve(t, "text/html", "<title>T</title><p>Read <a href=/more>more</a>")
	if got := call(t, w.settings, "fetch", map[string]any{"url": w.URL}); strings.Contains(got.Text(), "[This page") {
		t.Errorf("a page with text says %q", got.Text())
	}
}

// An answer that is not whole says what it lacks. The advice is one that helps.
func TestAnswersThatBreakOff(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	for i := range 10_000 {
		_, _ = fmt.Fprintln(z, i*i)
	}
	_ = z.Close()
	ranged := make(chan string, 1)
	w := newWeb(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/short":
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "123456789")
		case "/chunks":
			_, _ = io.WriteString(w, "123456789")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(zipped.Bytes()[:600])
		case "/json":
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"a":1`)
		case "/image":
			w.Header().Set("Content-Type", "image/png")
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "\x89PNG\r\n\x1a\n")
		case "/large":
			if r.Header.Get("Range") != "" {
				ranged <- r.Header.Get("Range")
				w.WriteHeader(http.StatusPartialContent)
				_, _ = io.WriteString(w, "the end")
				return
			}
			_, _ = io.WriteString(w, strings.Repeat("x", maxBytes+7))
		}
	})
	ask := func(tool, path string, more map[string]any) string {
		arguments := map[string]any{"url": w.URL + path}
		for key, value := range more {
			arguments[key] = value
		}
		got := call(t, w.settings, tool, arguments)
		if got.Err != nil {
			t.Fatal(got.Err)
		}
		return got.Text()
	}
	for path, want := range map[string]string{
		"/short":  "123456789\n[The answer broke off after 9 of 1000 bytes (the server ended it). The rest is missing. Fetching it once more may give the whole.]",
		"/chunks": "123456789\n[The answer broke off after 9 bytes (the server ended it)",
		"/gzip":   "[The answer broke off after ",
		"/json":   "{\"a\":1\n[The answer broke off after 6 of 1000 bytes",
		"/image":  "[This is no text and not whole, so that nothing of it is shown.]\n[The answer broke off after 8 of 1000 bytes",
	} {
		if got := ask("fetch", path, nil); !strings.HasSuffix(got, want) && !strings.Contains(got, want) || strings.Contains(got, "max_bytes") {
			t.Errorf("%s gave %q", path, got)
		}
	}
	if got := ask("fetch", "/json", map[string]any{"format": "json"}); !strings.Contains(got, "with JSON that is not whole. The answer broke off") {
		t.Errorf("got %q", got)
	}
	if got := ask("http_request", "/short", map[string]any{"method": "DELETE"}); !strings.Contains(got, "The rest is missing.]") {
		t.Errorf("got %q", got)
	}
	got := ask("fetch", "/large", map[string]any{"max_bytes": maxBytes})
	if advice := fmt.Sprintf("max_bytes cannot be larger; the header Range: bytes=%d- reads on", maxBytes); !strings.Contains(got, advice) {
		t.Errorf("got %q", got[len(got)-200:])
	}
	got = ask("fetch", "/large", map[string]any{"headers": map[string]string{"Range": fmt.Sprintf("bytes=%d-", maxBytes)}})
	if asked := <-ranged; asked != "bytes=10485760-" || !strings.Contains(got, "the end") {
		t.Errorf("the server was asked for %s, and the result is %q", asked, got)
	}
}
