package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/sdk/egress"
)

func TestSettings(t *testing.T) {
	for name, test := range map[string]struct {
		variable, value, want string
	}{
		"a name":             {allowVariable, "intranet.example", "neither an address"},
		"half an address":    {allowVariable, "10.1", "neither an address"},
		"a zone":             {allowVariable, "fe80::1%eth0", "neither an address"},
		"port 0":             {allowVariable, "10.1.2.3:0", "neither an address"},
		"one of several":     {allowVariable, "10.0.0.1, x", `"x"`},
		"a proxy for socks":  {proxyVariable, "socks5://h:1", proxyVariable},
		"a proxy's password": {proxyVariable, "ftp://u:secret@h:1", proxyVariable},
		"no proxy's host":    {proxyVariable, "http://", proxyVariable},
		"two lines":          {userAgentVariable, "a\r\nX: y", userAgentVariable},
	} {
		_, err := readSettings(func(name string) string { return map[string]string{test.variable: test.value}[name] })
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	s, err := readSettings(func(string) string { return "" })
	if err != nil || len(s.rules.Allow) > 0 || s.proxy != nil {
		t.Errorf("got %+v, %v", s, err)
	}
}

// No spelling, name, redirect or second DNS answer leads to a forbidden address.
func TestNoWayToRefusedAddresses(t *testing.T) {
	secret := newWeb(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("SECRET")) })
	_, port, _ := strings.Cut(secret.Listener.Addr().String(), ":")
	open := newWeb(t, nil)
	open.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
	})
	open.resolver = names(t, map[string][]string{
		"private.test": {"127.0.0.1"}, "rebind.test": {"127.0.0.1", "127.0.0.9"}, "metadata.test": {"169.254.169.254"}, "open.test": {"127.0.0.1"},
	})
	for name, url := range map[string]string{
		"an address":          secret.URL,
		"a name":              "http://private.test:" + port,
		"the local host":      "http://localhost:" + port,
		"in IPv6":             "http://[::ffff:127.0.0.1]:" + port,
		"in hexadecimal IPv6": "http://[::ffff:7f00:1]:" + port,
		"unspecified":         "http://0.0.0.0:" + port,
		"unspecified in IPv6": "http://[::]:" + port,
		"metadata":            "http://169.254.169.254/latest/meta-data/",
		"metadata by name":    "http://metadata.test/",
		"a redirect":          open.URL + "/?to=" + secret.URL,
		"a redirect by name":  open.named("open.test") + "/?to=http://private.test:" + port,
		"a second answer":     open.named("rebind.test") + "/?to=" + open.named("rebind.test") + "/again",
	} {
		t.Run(name, func(t *testing.T) {
			says(t, call(t, open.settings, "fetch", map[string]any{"url": url}), true,
				"public addresses alone are reached; an operator can allow it in toolhost.yaml: plugin.fetch.env.FETCH_ALLOW")
		})
	}
	// The tool does not accept these forms. If a resolver accepted them, the check above would
	// apply.
	for _, host := range []string{"2130706433", "0x7f000001", "127.1", "0177.0.0.1"} {
		if got := call(t, open.settings, "fetch", map[string]any{"url": "http://" + host + ":" + port}); !got.IsError {
			t.Errorf("%s: got %q", host, got.Text())
		}
	}
	if hits := secret.requests(); len(hits) > 0 {
		t.Errorf("there were %d requests for the secret", len(hits))
	}
	got := call(t, open.settings, "fetch", map[string]any{"url": secret.URL})
	if len(got.Logs) != 1 || !strings.Contains(string(got.Logs[0].Attributes["address"]), "127.0.0.1") || strings.Contains(strings.ReplaceAll(got.Text(), secret.Listener.Addr().String(), ""), "127.0.0.1") {
		t.Errorf("the operator is told the address and the model is not: %+v, %q", got.Logs, got.Text())
	}
}

// Proxy variables of the environment have no effect. The operator's setting does.
func TestProxies(t *testing.T) {
	proxy := newWeb(t, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte("by proxy: " + r.URL.String())) })
	target := newWeb(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("directly")) })
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY"} {
		t.Setenv(name, proxy.URL)
	}
	target.resolver = names(t, map[string][]string{"site.test": {"127.0.0.1"}})
	says(t, call(t, target.settings, "fetch", map[string]any{"url": target.named("site.test")}), false, "directly")

	s, err := readSettings(func(name string) string { return map[string]string{proxyVariable: proxy.URL}[name] })
	if err != nil {
		t.Fatal(err)
	}
	says(t, call(t, s, "fetch", map[string]any{"url": "http://site.test/page"}), false, "by proxy: http://site.test/page")
	for _, text := range []string{"http://127.0.0.1:1/", "http://[::1]/", "http://169.254.169.254/"} {
		says(t, call(t, s, "fetch", map[string]any{"url": text}), true, "is not reached, because it leads to")
	}
	for text, refused := range map[string]bool{"10.1.2.3:8080": false, "10.1.2.3:80": true, "10.1.2.3": true, "10.9.0.7": false} {
		granted := s
		granted.rules.Allow = []egress.Grant{grant(t, "10.1.2.3:8080"), grant(t, "10.9.0.0/16")}
		u := &url.URL{Scheme: "http", Host: text, Path: "/"}
		if err := granted.checkURL(u); (err != nil) != refused {
			t.Errorf("%s through the proxy: %v", text, err)
		}
	}
	if hits := proxy.requests(); len(hits) != 1 {
		t.Errorf("the proxy was asked %d times", len(hits))
	}
}

// If the operator names hosts, no other host is requested: not by address, by redirect, or by a
// similar name.
func TestOnlyTheHostsThatAreNamed(t *testing.T) {
	s, err := readSettings(func(name string) string {
		return map[string]string{onlyVariable: "Docs.example.com, *.example.org [2001:db8::1]"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"https://docs.example.com/x": true, "https://DOCS.example.com.:8443/": true, "https://a.example.org": true, "https://a.b.example.org": true,
		"https://[2001:db8::1]/": true, "https://[2001:db8::2]/": false, "https://example.org": false, "https://evilexample.org": false, "https://docs.example.com.evil.net": false, "https://93.184.215.14": false,
		"https://x.docs.example.com": false, "https://evil.net/docs.example.com": false, "https://evil.net?docs.example.com": false,
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.checkURL(u); (err == nil) != want || err != nil && !strings.Contains(err.Error(), "docs.example.com, *.example.org") {
			t.Errorf("%s: %v; want it allowed: %v", text, err, want)
		}
		if err := s.redirect(&http.Request{URL: u, Header: http.Header{}}, nil); (err == nil) != want {
			t.Errorf("a redirect to %s: %v; want it allowed: %v", text, err, want)
		}
	}
	for _, bad := range []string{"*", "*.", "https://a.example", "a.*.example", "me@host"} {
		if _, err := readSettings(func(name string) string { return map[string]string{onlyVariable: bad}[name] }); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// grant returns what an operator grants with a text.
func grant(t *testing.T, text string) egress.Grant {
	t.Helper()
	g, err := egress.ParseGrant(text)
	if err != nil {
		t.Fatal(err)
	}
	return g
}
